"""How the mock model thinks: pure functions, one module for each of its abilities.

`lexicon` understands a sentence, `choosing` picks tools, `arguments` fills them in, `reading` makes
sense of tool messages, `answering` puts the outcome into words. `shared.chat.planner` joins them.
"""
