import { defineFields, definePlugin, defineTokenBinding } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const binding = (name: string, more: object = {}) =>
  definePlugin(name, [
    defineTokenBinding({ member: 'jkt', scheme: 'DPoP', prove: () => undefined, ...more } as Parameters<
      typeof defineTokenBinding
    >[0]),
  ])
const start = (...plugins: ReturnType<typeof binding>[]) =>
  createTestProvider({ plugins: [clientCredentials(), plugins] })

describe('a malformed token binding is refused at startup', () => {
  test.each<[string, object, RegExp]>([
    ['without a member', { member: undefined }, /the token binding of a: member must be the name/u],
    [
      'with a member that no JSON name would have',
      { member: '__proto__' },
      /the token binding __proto__ of a: member must be the name/u,
    ],
    ['without prove()', { prove: undefined }, /the token binding jkt of a: prove must be a function/u],
    ['with an invalid scheme', { scheme: 'D PoP' }, /scheme must be the scheme of its tokens/u],
    ['with the scheme of clients', { scheme: 'basic' }, /scheme must be the scheme of its tokens/u],
    [
      'with the scheme of the core, spelled otherwise',
      { scheme: 'bearer' },
      /scheme must be the scheme of its tokens/u,
    ],
    ['with a challenge of the scheme Bearer', { scheme: 'Bearer', challenge: { algs: 'ES256' } }, /scheme of its own/u],
    ['with an invalid challenge', { challenge: { algs: 'a"b' } }, /challenge\.algs must be printable ASCII/u],
    [
      'with a challenge that has another realm',
      { challenge: { realm: 'b' } },
      /challenge\.realm is not the name of a parameter/u,
    ],
    ['with a challenge that has an error', { challenge: { error: 'b' } }, /challenge\.error is not the name/u],
    ['with a challenge that has a scope', { challenge: { scope: 'b' } }, /challenge\.scope is not the name/u],
    ['with an invalid bindsRefreshTokens', { bindsRefreshTokens: true }, /bindsRefreshTokens must be a function/u],
    [
      'with a header in upper case',
      { exposedHeaders: ['DPoP-Nonce'] },
      /exposedHeaders\[0\] must be the name of a header/u,
    ],
    [
      'with a header of the core',
      { exposedHeaders: ['set-cookie'] },
      /exposedHeaders\[0\] is a header of the core or of the adapter/u,
    ],
    [
      'with a header of pages',
      { exposedHeaders: ['referrer-policy'] },
      /exposedHeaders\[0\] is a header of the core or of the adapter/u,
    ],
    [
      'with a header of the connection',
      { exposedHeaders: ['keep-alive'] },
      /exposedHeaders\[0\] is a header of the core or of the adapter/u,
    ],
    [
      'with headers that are not a list',
      { exposedHeaders: 'dpop-nonce' },
      /exposedHeaders must be an array of headers/u,
    ],
  ])('%s', async (_, more, message) => {
    await expect(start(binding('a', more))).rejects.toThrow(message)
  })

  test('if two plugins bind the same member', async () => {
    await expect(start(binding('a'), binding('b', { scheme: 'Bearer' }))).rejects.toThrow(
      'plugins: a and b both provide the token binding jkt; remove one of them',
    )
  })

  test('if two plugins have the same scheme', async () => {
    await expect(start(binding('a'), binding('b', { member: 'x', scheme: 'dpop' }))).rejects.toThrow(
      'plugins: a and b both provide the token scheme dpop; remove one of them',
    )
  })

  test('but several can use the scheme Bearer', async () => {
    const certificate = { member: 'x5t#S256', scheme: undefined }
    await expect(
      start(binding('a'), binding('b', certificate), binding('c', { member: 'x', scheme: 'Bearer' })),
    ).resolves.toBeDefined()
  })
})

test.each([[{ client: 400, bearer: 500 }], [{ client: 400 }], [{ bearer: 401 }]])(
  'an error code needs a status for clients and for bearers: %j',
  async (status) => {
    const fields = defineFields({ errors: { invalid_test_proof: status as never } })
    const refused = createTestProvider({ plugins: [clientCredentials(), definePlugin('a', [fields])] })
    await expect(refused).rejects.toThrow(
      /the fields of a: errors\.invalid_test_proof\.\w+ (?:must be one of 400, 401, 403|is required)/u,
    )
  },
)
