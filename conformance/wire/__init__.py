"""A raw JSON-RPC client for MCP: asyncio only, every byte kept."""
