import { defineFields, definePlugin, defineTokenBinding, type TokenBinding } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const binding = (name: string, more: object = {}) =>
  definePlugin(name, [
    defineTokenBinding({ member: 'jkt', scheme: 'DPoP', prove: () => undefined, ...more } as Omit<
      TokenBinding,
      'kind'
    >),
  ])
const start = (...plugins: ReturnType<typeof binding>[]) =>
  createTestProvider({ plugins: [clientCredentials(), plugins] })

describe('a malformed token binding is refused at startup', () => {
  test.each<[string, object, RegExp]>([
    ['without a member', { member: undefined }, /a has a token binding with an invalid member/u],
    ['with a member that no JSON name would have', { member: '__proto__' }, /invalid member/u],
    ['without prove()', { prove: undefined }, /the token binding jkt of a requires prove\(\)/u],
    ['with an invalid scheme', { scheme: 'D PoP' }, /has the invalid scheme "D PoP"/u],
    ['with the scheme of clients', { scheme: 'basic' }, /has the invalid scheme "basic"/u],
    ['with the scheme of the core, spelled otherwise', { scheme: 'bearer' }, /has the invalid scheme "bearer"/u],
    ['with a challenge of the scheme Bearer', { scheme: 'Bearer', challenge: { algs: 'ES256' } }, /scheme of its own/u],
    ['with an invalid challenge', { challenge: { algs: 'a"b' } }, /invalid parameter algs/u],
    ['with a challenge that has another realm', { challenge: { realm: 'b' } }, /invalid parameter realm/u],
    ['with a challenge that has an error', { challenge: { error: 'b' } }, /invalid parameter error/u],
    ['with a challenge that has a scope', { challenge: { scope: 'b' } }, /invalid parameter scope/u],
    [
      'with an invalid bindsRefreshTokens',
      { bindsRefreshTokens: true },
      /bindsRefreshTokens, which is not a function/u,
    ],
    ['with a header in upper case', { exposedHeaders: ['DPoP-Nonce'] }, /invalid exposedHeaders/u],
    ['with a header of the core', { exposedHeaders: ['set-cookie'] }, /invalid exposedHeaders/u],
    ['with a header of pages', { exposedHeaders: ['referrer-policy'] }, /invalid exposedHeaders/u],
    ['with a header of the connection', { exposedHeaders: ['keep-alive'] }, /invalid exposedHeaders/u],
    ['with headers that are not a list', { exposedHeaders: 'dpop-nonce' }, /invalid exposedHeaders/u],
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
    await expect(refused).rejects.toThrow('a has the error code invalid_test_proof without the status 400, 401 or 403')
  },
)
