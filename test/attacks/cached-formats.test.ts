/**
 * Attack: a caller asks for another form of a public document. A cache between the callers and the provider keeps the
 * response, and sends it to those that understand only JSON. They cannot verify tokens until the response has expired.
 */
import { defineEndpoint, definePlugin, defineResponseFormat } from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'

const mediaType = 'application/jwk-set+json'

const formats = definePlugin('formats', [
  defineEndpoint({
    name: 'document',
    path: '/document',
    methods: ['GET'],
    caller: 'anyone',
    cors: 'clients',
    handle: () => ({ json: {}, maxAge: 60 }),
  }),
  ...['jwks', 'document'].map((endpoint) =>
    defineResponseFormat({ endpoint, mediaType, encode: (json) => JSON.stringify(json) }),
  ),
])

test.each([
  ['jwks', {}, 'Accept'],
  ['jwks', { origin: 'https://app.example.com' }, 'Accept'],
  ['document', {}, 'Accept, Origin'],
  ['document', { origin: 'https://app.example.com' }, 'Accept, Origin'],
] as const)('a cache keeps the forms of a response apart: %s with %o', async (name, headers, vary) => {
  const { provider } = await createTestProvider({ plugins: formats })
  for (const [accept, type] of [
    [mediaType, mediaType],
    ['*/*', 'application/json'],
  ] as const) {
    const request = new Request('https://id.example.com/x', { headers: { ...headers, accept } })
    const response = await provider.handlers[name]?.(request)
    expect(response?.headers.get('content-type')).toBe(type)
    expect(response?.headers.get('cache-control')).toMatch(/^public/u)
    expect(response?.headers.get('vary')).toBe(vary)
  }
})
