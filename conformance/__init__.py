"""Check and certify extensions of the Gerrit MCP server against their documented contracts."""
