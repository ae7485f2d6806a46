"""Day 23: an MCP server, a client for it, the bridge to function calling, and the agent loop."""
