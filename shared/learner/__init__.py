"""What a learner uses between runs: hints, quiz, progress, watch, reset, doctor."""
