import { fileURLToPath } from 'node:url'

// The workspaces, which are links, are in the repository. The test copies this folder to `../dist/<copy>`.
const root = fileURLToPath(new URL('../../../..', import.meta.url))

// Next.js requires a default export.
export default {
  turbopack: { root },
  outputFileTracingRoot: root,
  // No later run reads it.
  experimental: { turbopackFileSystemCacheForBuild: false, turbopackFileSystemCacheForDev: false },
  // RFC 8414 places this document before the path of the issuer.
  rewrites: async () => [
    {
      source: '/.well-known/oauth-authorization-server/id',
      destination: '/id/.well-known/oauth-authorization-server',
    },
  ],
}
