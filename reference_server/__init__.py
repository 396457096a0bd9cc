"""A small, complete Gerrit MCP server that keeps every documented contract, on mcp 1.x and 2.x."""
