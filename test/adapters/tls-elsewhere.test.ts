import { bunHandler } from '@grantry/adapters/bun'
import { denoHandler } from '@grantry/adapters/deno'
import { expect, test } from 'vitest'

const provider = { fetch: async () => new Response('ok') }

// The types refuse it, too. JavaScript would get a server without TLS.
test.each([
  ['Bun', bunHandler],
  ['Deno', denoHandler],
])('16.10 the adapter for %s refuses tls', (_, createHandler) => {
  const options = { trustedProxies: 0, tls: { certificate: 'x', key: 'x', requestCertificates: true } }
  expect(() => createHandler(provider, options)).toThrow('tls: only the adapter for Node.js has it')
  const without = { ...options, tls: undefined }
  expect(() => createHandler(provider, without)).not.toThrow()
})
