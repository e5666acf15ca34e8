// The second factors of a user over the admin API: a user has lost the phone.
import type { AdminHost } from '@grantry/administration/api'
import { OAuthError } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { setting } from './setting.ts'

/**
 * Records what is called, in order. `failing` calls of `reset` fail first. A thief adds `added` passkeys, one before each
 * revocation.
 */
async function service({ failing = 0, added = 0, withoutReset = [] as readonly string[] } = {}) {
  const calls: string[] = []
  let left = failing
  let leftToAdd = added
  let held = { apps: 1, passkeys: 2 }
  const host: Partial<AdminHost> = {
    secondFactors: {
      withoutReset,
      async reset(sub) {
        calls.push(`reset ${sub}`)
        left -= 1
        if (left >= 0) {
          const message = 'Not all second factors were reset (secondFactors[1] failed), repeat the reset'
          throw new OAuthError('temporarily_unavailable', message, { reason: 'second_factors_left', retryAfter: 1 })
        }
        const removed = held
        held = { apps: 0, passkeys: 0 }
        return { ...removed, secret: 'of the host' }
      },
    },
    async revoke(target) {
      if (leftToAdd > 0) held = { apps: 0, passkeys: 1 }
      leftToAdd -= 1
      calls.push(`revoke ${JSON.stringify(target)}`)
    },
    sessions: {
      list: async () => [],
      end: async () => true,
      async endAll(sub) {
        calls.push(`end ${sub}`)
        return 1
      },
    },
  }
  return { ...(await setting({ host })), calls }
}

const path = '/users/carol/second-factors'
const all = ['reset carol', 'revoke {"subject":"carol"}', 'end carol']
// What was added until the sessions ended, and what has begun with it: not each factor counts what it removes.
const twice = [...all, ...all]

describe('the second factors of a user', () => {
  test('are removed before sessions and tokens end, and the trail has it', async () => {
    const { send, calls, trail } = await service()
    expect((await send('GET', '')).body.resources).toContain('second-factors')
    expect(await send('DELETE', path)).toMatchObject({
      status: 200,
      body: { sub: 'carol', removed: { apps: 1, passkeys: 2 }, endedSessions: 2 },
    })
    expect(calls).toEqual(twice)
    expect((await trail())[0]).toMatchObject({
      action: 'user_second_factors_reset',
      id: 'carol',
      who: 'client:ops',
      from: '192.0.2.7',
      outcome: 'done',
    })
  })

  test.each([
    [0, twice],
    [1, [...twice, 'reset carol']],
    [2, [...twice, ...all]],
  ])('that a thief adds %i times before the sessions end are removed, too', async (added, expected) => {
    const { send, calls } = await service({ added })
    expect(await send('DELETE', path)).toMatchObject({ body: { removed: { apps: 1, passkeys: 2 + added } } })
    expect(calls).toEqual(expected)
  })

  test('that a host removes without a count leave no session that began with one meanwhile', async () => {
    let holds = true
    let sessions = 1
    const host: Partial<AdminHost> = {
      // A thief with the password signs in with a factor of an own, directly before it is removed.
      secondFactors: {
        withoutReset: [],
        reset() {
          if (holds) sessions += 1
          return Promise.resolve()
        },
      },
      async revoke() {},
      sessions: {
        list: async () => [],
        end: async () => true,
        async endAll() {
          holds = sessions === 2
          const ended = sessions
          sessions = 0
          return ended
        },
      },
    }
    const { send } = await setting({ host })
    expect(await send('DELETE', path)).toMatchObject({ body: { removed: {}, endedSessions: 3 } })
    expect(sessions).toBe(0)
  })

  test('that are left after a failure are reported, sessions end all the same, and it can be repeated', async () => {
    const { send, calls, trail } = await service({ failing: 1 })
    expect(await send('DELETE', path)).toMatchObject({
      status: 503,
      body: { detail: 'Not all second factors were reset (secondFactors[1] failed), repeat the reset' },
    })
    expect(calls).toEqual(all)
    expect((await trail())[0]).toMatchObject({ action: 'user_second_factors_reset', outcome: 'unknown' })
    expect((await send('DELETE', path)).status).toBe(200)
    expect(calls).toEqual([...all, ...twice])
    expect((await trail())[0]).toMatchObject({ outcome: 'done' })
  })

  test('with a factor that cannot be reset stay: nothing is called, and nothing is in the trail', async () => {
    const { send, calls, trail } = await service({ withoutReset: ['passkeys'] })
    const { status, body } = await send('DELETE', path)
    expect([status, body.detail]).toEqual([409, expect.stringContaining('Passkeys of signIn() has no function reset')])
    expect((await send('GET', '')).body.resources).not.toContain('second-factors')
    expect([calls, await trail()]).toEqual([[], []])
  })

  test('of a server without them are a problem, not a success', async () => {
    const { send, trail } = await setting()
    const { status, body } = await send('DELETE', path)
    expect([status, body.detail]).toEqual([409, expect.stringContaining('No plugin of this server can reset')])
    expect((await send('GET', '')).body.resources).not.toContain('second-factors')
    expect(await trail()).toEqual([])
  })

  test('of an administrator cannot be removed: one who knows the password could sign in as that one', async () => {
    const { send, calls } = await service()
    expect(await send('DELETE', '/users/alice/second-factors')).toMatchObject({ status: 409 })
    expect(calls).toEqual([])
  })

  test('cannot be removed with the scope for reading, or with an impossible id', async () => {
    const { send, calls, tokenOf } = await service()
    expect((await send('DELETE', path, { token: await tokenOf('ops', 'admin:read') })).status).toBe(403)
    expect((await send('DELETE', `/users/${'a'.repeat(513)}/second-factors`)).status).toBe(404)
    expect(calls).toEqual([])
  })
})
