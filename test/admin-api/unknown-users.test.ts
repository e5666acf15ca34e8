// Users and clients that do not exist: an answer of success would hide a typing mistake, while the account of an attacker works.
import type { AdminHost, AdminUser } from '@grantry/administration/api'
import { describe, expect, test } from 'vitest'
import { setting } from './setting.ts'

const bob: AdminUser = {
  sub: 'b-1',
  username: 'bob',
  active: false,
  claims: { email: 'bob@example.com' },
  from: 'service',
}
const twins = ['t-1', 't-2'].map((sub): AdminUser => ({ ...bob, sub, username: 'twin' }))

const authorization = (clientId: string) => ({
  family: 'one',
  clientId,
  scopes: ['read'],
  audiences: [],
  startedAt: 1,
  expiresAt: 2,
})

/** Users of a service. Everything that an operation calls is recorded. */
async function service({ left = [] as readonly string[] } = {}) {
  const calls: string[] = []
  const record = (text: string) => void calls.push(text)
  const host: Partial<AdminHost> = {
    users: {
      inStorage: false,
      find: async (text) => [bob, ...twins].filter(({ sub, username }) => sub === text || username === text),
    },
    secondFactors: { withoutReset: [], reset: async (sub) => record(`reset ${sub}`) },
    revoke: async (target) => record(`revoke ${JSON.stringify(target)}`),
    sessions: {
      list: async (sub) =>
        left.includes(sub) ? [{ sid: 'one', subject: {}, startedAt: 1_700_000_000, expiresAt: 1_800_000_000 }] : [],
      end: async (sid) => {
        record(`end ${sid}`)
        return true
      },
      endAll: async (sub) => {
        record(`end all of ${sub}`)
        return 1
      },
    },
    consents: {
      list: async (sub) => (sub === 'b-1' ? [{ clientId: 'web', scopes: [], claims: [] }] : []),
      revoke: async (_sub, clientId) => {
        record(`forget the consent to ${clientId}`)
        return true
      },
    },
    authorizations: {
      list: async (sub) => (sub === 'b-1' ? [authorization('web'), authorization('web'), authorization('other')] : []),
    },
  }
  return { ...(await setting({ host })), calls }
}

const operations = [
  ['GET', 'sessions'],
  ['DELETE', 'sessions'],
  ['DELETE', 'sessions/one'],
  ['POST', 'revoke'],
  ['POST', 'clients/web/revoke'],
  ['DELETE', 'second-factors'],
  ['GET', 'consents'],
  ['DELETE', 'consents/web'],
  ['GET', 'authorizations'],
  ['DELETE', 'authorizations/family'],
] as const

const sent = (method: string) => (method === 'POST' ? { body: {} } : {})

describe.each(operations)('%s /users/{sub}/%s', (method, path) => {
  test.each(['nosuch', 'bob', 'B-1', 'twin', 'x'.repeat(600)])('is 404 for %s, and does nothing', async (sub) => {
    const { send, calls, trail } = await service()
    const { status, body } = await send(method, `/users/${sub}/${path}`, sent(method))
    expect([status, body.detail]).toEqual([404, 'There is no such user'])
    expect([calls, await trail()]).toEqual([[], []])
  })

  test('is not refused for an inactive user of the service, nor for one who is gone and has a session left', async () => {
    const { send } = await service({ left: ['gone'] })
    for (const sub of ['b-1', 'gone']) {
      const { body } = await send(method, `/users/${sub}/${path}`, sent(method))
      expect(body?.detail).not.toBe('There is no such user')
    }
  })
})

describe('a user service without a function that finds users', () => {
  test('knows those who are active', async () => {
    const { send } = await setting({ host: { revoke: async () => {} } })
    expect((await send('POST', '/users/anyone/revoke', { body: {} })).status).toBe(204)
  })
})

describe('a client', () => {
  test.each([
    ['typing-mistake', 404],
    ['web', 204],
    ['https://client.example.com/gone', 204],
  ])('%s is revoked: %s', async (id, status) => {
    const { send, calls } = await service()
    expect((await send('POST', `/clients/${encodeURIComponent(id)}/revoke`, { body: {} })).status).toBe(status)
    expect(calls).toHaveLength(status === 204 ? 1 : 0)
  })
})

describe('a user at a client', () => {
  test.each([
    ['typing-mistake', 404],
    ['https://client.example.com/gone', 200],
    ['web', 200],
  ])('is revoked at %s: %s, with the count of what was listed', async (clientId, status) => {
    const { send, calls, trail } = await service()
    const { body, ...response } = await send('POST', `/users/b-1/clients/${encodeURIComponent(clientId)}/revoke`, {
      body: {},
    })
    expect(response.status).toBe(status)
    if (status === 404) {
      expect([body.detail, calls, await trail()]).toEqual(['There is no such client', [], []])
      return
    }
    expect(body).toEqual({
      sub: 'b-1',
      clientId,
      ended: { authorizations: clientId === 'web' ? 2 : 0, consents: clientId === 'web' ? 1 : 0 },
    })
    expect(calls).toEqual([
      `revoke ${JSON.stringify({ subject: 'b-1', clientId })}`,
      `forget the consent to ${clientId}`,
    ])
    expect((await trail())[0]).toMatchObject({ action: 'user_access_withdrawn', id: 'b-1', before: { clientId } })
  })
})

describe('a user is found', () => {
  test.each(['b-1', 'bob'])('by %s, with the claims and where the user is', async (text) => {
    const { send } = await service()
    expect(await send('GET', `/known-users/${text}`)).toMatchObject({ status: 200, body: bob })
  })

  test.each([
    ['nosuch', 404],
    ['twin', 409],
  ])('not by %s: %s', async (text, status) => {
    expect((await (await service()).send('GET', `/known-users/${text}`)).status).toBe(status)
  })

  test('not where the host has no such function', async () => {
    const { send } = await setting()
    expect((await send('GET', '/known-users/alice')).status).toBe(404)
    expect((await send('GET', '')).body).toMatchObject({ usersIn: 'storage' })
  })

  test('also the administrator who asks, by the name', async () => {
    const alice = { ...bob, sub: 'alice', username: 'Alice A.' }
    const failing = async (): Promise<never> => {
      throw new Error('the directory is down')
    }
    for (const [find, username] of [
      [async () => [alice], 'Alice A.'],
      [async () => [{ ...alice, sub: 'other' }], undefined],
      [failing, undefined],
    ] as const) {
      const { send, tokenOf } = await setting({ host: { users: { inStorage: false, find } } })
      const { body } = await send('GET', '', { token: await tokenOf('ops', 'admin openid', 'alice') })
      expect(body).toMatchObject({ usersIn: 'service', caller: { sub: 'alice' } })
      expect(body.caller.username).toBe(username)
    }
  })
})
