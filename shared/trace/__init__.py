"""The record of a run drawn for people: in the terminal, as a page, as a Mermaid diagram."""
