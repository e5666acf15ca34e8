import { passwords } from '@grantry/core'
import { testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { kitOf } from '../support/kit-of.ts'
import { setUp, state } from './plugin-kit.ts'

describe('the kit of host functions', () => {
  test('shares the records and seals of the plugin', async () => {
    const { provider, withKit } = await setUp('tickets')
    const kit = kitOf(provider, 'tickets')
    await kit.records.put('a', { step: 'paid' }, kit.now() + 60)
    expect(await withKit(({ records }) => records.get('a', state))).toEqual({ step: 'paid' })
    const sealed = await kit.seal({ step: 'x' }, kit.now() + 60)
    expect(await withKit(({ unseal }) => unseal(sealed, state))).toEqual({ step: 'x' })
    const otherKit = kitOf(provider, 'other')
    expect([await otherKit.records.get('a', state), await otherKit.unseal(sealed, state)]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('finds clients and scopes, and checks passwords', async () => {
    const users = { authenticate: ({ password }: { password: string }) => (password === 'right' ? alice : undefined) }
    const alice = { sub: 'alice', amr: ['pwd'] }
    const { provider } = await setUp('kit', { users }, [passwords])
    const kit = kitOf(provider, 'kit')
    const client = await kit.findClient(testClient[0])
    if (client === undefined) throw new Error('The client is missing')
    expect(client).not.toHaveProperty('secrets')
    expect(await kit.findClient('absent')).toBeUndefined()
    expect(kit.scopesOf(client, 'api1 openid')).toEqual(['api1', 'openid'])
    expect(() => kit.scopesOf(client, 'api9')).toThrow(expect.objectContaining({ code: 'invalid_scope' }))
    const log = (password: string) =>
      kit.authenticateUser({ username: 'alice', password }, { clientAddress: '192.0.2.1' })
    expect(await log('right')).toEqual(alice)
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await log('wrong')).toBeUndefined()
    await expect(log('right')).rejects.toMatchObject({ code: 'slow_down' })
  })

  test('is not that of the host: it cannot name another plugin to read its records', async () => {
    const { provider } = await setUp('tickets')
    expect(Object.keys(provider).filter((name) => /kit/iu.test(name))).toEqual([])
  })
})
