import { type ClientOptions, defineGrant, definePlugin } from '@grantry/core'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { basic, createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { common, echo, lastReason, secrets, send, setUp, stampMethod, stamps } from './stamp-method.ts'

describe('at startup', () => {
  const start = (...parts: Parameters<typeof definePlugin>[1]) => setUp(definePlugin('other', parts))
  const refusal = (message: string) => ({ name: 'TypeError', message: expect.stringContaining(message) })

  test.each([
    [
      'a method of another plugin',
      [stamps, definePlugin('other', [stampMethod])],
      'plugins: stamps and other both provide the authentication method stamp; remove one of them',
    ],
    [
      'a built-in method',
      [definePlugin('other', [{ ...stampMethod, method: 'none' }])],
      'plugins: core and other both provide the authentication method none; remove one of them',
    ],
  ])('rejects %s, and names both plugins', async (_, plugins, message) => {
    await expect(setUp(plugins)).rejects.toMatchObject(refusal(message))
  })

  test('rejects a malformed method', async () => {
    const malformed = { ...stampMethod, method: 'Two Words' }
    await expect(start(malformed)).rejects.toMatchObject(refusal('method must be lower-case letters'))
    const unproven = { ...stampMethod, accepts: undefined } as unknown as typeof stampMethod
    await expect(start(unproven)).rejects.toMatchObject(refusal('both verify() and accepts(), or neither'))
    const greedy = { ...stampMethod, consumes: ['scope'] }
    await expect(start(greedy)).rejects.toMatchObject(refusal('consumes[0] is a parameter that the core reads'))
    const mute = { ...stampMethod, present: undefined } as unknown as typeof stampMethod
    await expect(start(mute)).rejects.toMatchObject(refusal('present must be a function'))
  })

  test('rejects a grant that declares a field of a method', async () => {
    const params = v.object({ stamp: v.string() })
    const grant = defineGrant({ grantType: 'urn:example:stamp', params, handle: ({ scopes }) => ({ scopes }) })
    const message =
      'plugins: the grant urn:example:stamp cannot have stamp in params, because stamps reads it; remove it'
    await expect(setUp([stamps, grant])).rejects.toMatchObject(refusal(message))
  })

  test('rejects a client that no method accepts', async () => {
    const message = 'clients: stamped has no usable secret; add one, or set public: true'
    await expect(setUp([])).rejects.toMatchObject({ message })
    const strict = definePlugin('stamps', [{ ...stampMethod, accepts: () => false }])
    await expect(setUp(strict)).rejects.toMatchObject({ message: `${message}, or configure it for stamp` })
  })
})

describe('tokenEndpointAuthMethod', () => {
  const pinned = (method: string, more: Partial<ClientOptions> = {}) =>
    createTestProvider({
      plugins: [echo, refreshToken(), stamps],
      clients: [{ ...common, clientId: 'stamped', secrets, tokenEndpointAuthMethod: method, ...more }],
    })
  const header = { authorization: basic(['stamped', 'web-secret']) }

  test('refuses every other method, although the client could use it', async () => {
    const onlyStamp = await pinned('stamp')
    expect((await send(onlyStamp, { stamp: 'STAMPED-1' })).status).toBe(200)
    expect((await send(onlyStamp, {}, header)).status).toBe(401)
    expect(lastReason(onlyStamp)).toBe('method_not_allowed_for_client')
    const onlyBasic = await pinned('client_secret_basic')
    expect((await send(onlyBasic, {}, header)).status).toBe(200)
    expect((await send(onlyBasic, { client_id: 'stamped', client_secret: 'web-secret' })).status).toBe(401)
    expect((await send(onlyBasic, { stamp: 'STAMPED-2' })).status).toBe(401)
    expect(lastReason(onlyBasic)).toBe('method_not_allowed_for_client')
  })

  test('must be a method that the client can use', async () => {
    await expect(pinned('private_key_jwt')).rejects.toMatchObject({
      message:
        'clients: stamped has tokenEndpointAuthMethod private_key_jwt, which no plugin provides; known methods: client_secret_basic, client_secret_post, none, stamp',
    })
    await expect(pinned('client_secret_post', { secrets: [] })).rejects.toMatchObject({
      message: 'clients: stamped has tokenEndpointAuthMethod client_secret_post, but is not configured for it',
    })
  })
})
