/**
 * Attack: a thief exchanges a JWT of another issuer that is bound to a key, without the key, for a token of this
 * provider that needs none.
 */
import { definePlugin, defineTokenBinding } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { originalKey, refused, service, setUp, typeOf } from '../token-exchange/exchange-parties.ts'

/** Proves the key `mine` in every request. */
const binding = (key: string) =>
  definePlugin('binding', [defineTokenBinding({ member: 'jkt', prove: () => ({ key }) })])

describe('a JWT of another issuer that is bound to a key', () => {
  const exchange = async (cnf: unknown, plugin?: ReturnType<typeof binding>) => {
    const f = await setUp({ allow: () => ({ scopes: ['orders'] }) }, plugin)
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc@example.net', cnf }))
    const form = { subject_token_type: typeOf('jwt'), scope: 'orders' }
    return f.exchange(jwt, form, service)
  }

  test.each<[string, unknown, string | undefined]>([
    ['without a proof', { jkt: 'mine' }, undefined],
    ['with another key', { jkt: 'mine' }, 'other'],
    ['if one of its keys is not proved', { jkt: 'mine', 'x5t#S256': 'certificate' }, 'mine'],
    ['if its cnf is malformed', 'mine', 'mine'],
    ['if its cnf names no key', {}, 'mine'],
    ['if its cnf is an empty list', [], 'mine'],
  ])('is refused %s', async (_, cnf, key) => {
    const { status, body, failure } = await exchange(cnf, key === undefined ? undefined : binding(key))
    expect([status, body, failure]).toEqual([400, refused, key === undefined ? 'proof_missing' : 'wrong_key'])
  })

  test('is accepted with its key', async () => {
    expect((await exchange({ jkt: 'mine' }, binding('mine'))).status).toBe(200)
  })
})
