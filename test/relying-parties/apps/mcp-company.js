// A client of the official MCP SDK whose company decides about its access: Enterprise-Managed Authorization.
import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'

/**
 * Calls a tool for a user who has signed in at the company. The client knows the URL of the MCP server, its issuer, and its
 * own ids at both servers.
 */
export async function callForUser(url, { idpUrl, expectedIssuer, idToken, atCompany, atIssuer }) {
  const asked = []
  const authProvider = new CrossAppAccessProvider({
    ...atIssuer,
    expectedIssuer,
    assertion: async ({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) => {
      asked.push({ audience: String(audience), resource: String(resource), scope })
      const request = { ...atCompany, idpUrl, audience, resource, scope, idToken, fetchFn }
      return (await discoverAndRequestJwtAuthGrant(request)).jwtAuthGrant
    },
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }))
    const { content } = await client.callTool({ name: 'whoami', arguments: {} })
    return { asked, result: JSON.parse(content[0].text) }
  } finally {
    await client.close()
  }
}
