import { bunHandler } from '@grantry/adapters/bun'
import { denoHandler } from '@grantry/adapters/deno'
import { expect, test } from 'vitest'

const provider = { fetch: async () => new Response('ok') }

// The types refuse it, too. In JavaScript, the host's own server would ignore it.
test.each([
  ['Bun', bunHandler],
  ['Deno', denoHandler],
])('the handler for a server of the host on %s refuses tls', (_, createHandler) => {
  const options = { trustedProxies: 0, tls: { certificate: 'x', key: 'x', requestCertificates: true } }
  expect(() => createHandler(provider, options)).toThrow('tls: only serve() has it')
  const without = { ...options, tls: undefined }
  expect(() => createHandler(provider, without)).not.toThrow()
})
