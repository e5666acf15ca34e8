import type { UserService } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { registration } from '@grantry/plugins/registration'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { signInPlugins } from '@grantry/plugins/sign-in-plugins'
import { createDemoProvider, demoScope, issuer } from '../provider.ts'

/** The URL of the MCP server, which is all that a client needs. */
export const resource = `${issuer}/mcp`

// Instead of your users and their hashed passwords.
const users: UserService = {
  authenticate: ({ username, password }) =>
    username === 'alice' && password === 'alice-password' ? { sub: 'alice' } : undefined,
}

const selfDescribed = {
  scopes: ['orders:read', 'orders:cancel', 'offline_access'],
  // For clients that are developed on this machine. Leave it out elsewhere.
  allowPrivateAddresses: true,
}

const pages = createPages({
  name: 'Orders',
  scopes: { 'orders:read': { en: 'See your orders' }, 'orders:cancel': { en: 'Cancel your orders' } },
})

/** A provider that signs users of all MCP clients in. */
export const createProviderForMcp = () =>
  createDemoProvider({
    users,
    scopes: [
      demoScope,
      { name: 'orders:read', audience: resource, default: true },
      { name: 'orders:cancel', audience: resource },
    ],
    plugins: [
      clientCredentials(),
      signInPlugins({ pages }),
      resourceIndicators(),
      clientMetadata(selfDescribed),
      // For clients without a document, such as client.ts.
      registration({ ...selfDescribed, open: true }),
    ],
  })
