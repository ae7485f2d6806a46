"""The model's side of every lab: the chat client, and the mock that stands in for a real model.

`model` has `ChatModel`, through which an agent asks; `mock` has `reply`, the offline model;
`server` has `ChatServer`, which puts any reply function behind HTTP; `validation` says what a
provider refuses. Nothing is imported here, because `openai` takes a third of a second and the mock
does not need it.
"""
