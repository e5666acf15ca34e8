import type { ProviderEvent } from '@grantry/core'
import { passkeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { levelOf } from '../../packages/server/src/observability/level.ts'
import { createAuthenticator } from './authenticator.ts'
import { passwordAt, setUpFactors } from './one-time-password-parties.ts'
import { nameOf, setUpSignIn } from './parties.ts'

const circumstances = { sub: 'alice', clientId: 'web', clientAddress: '192.0.2.1' }

const onPages = /^(?:user_|second_factor_|passkey_|consent_|authorization_denied|session_|abuse_)/u

/** The events about users. */
const seen = (events: readonly ProviderEvent[]) => events.filter(({ type }) => onPages.test(type))
const types = (events: readonly ProviderEvent[]) => seen(events).map(({ type }) => type)

describe('a sign-in with a second factor', () => {
  test('is a success only after the code', async () => {
    const { passed, clock, events, start } = await setUpFactors()
    const { browser, enterCode } = await passed()
    await enterCode('924713')
    const consent = await enterCode(passwordAt(clock.now()))
    expect(types(events)).toEqual([
      'user_password_accepted',
      'second_factor_failed',
      'second_factor_succeeded',
      'session_started',
    ])
    expect(seen(events)[0]).toMatchObject({ ...circumstances, username: 'alice', idp: 'local' })
    expect(seen(events)[1]).toMatchObject({ ...circumstances, reason: 'wrong_code' })
    expect(seen(events)[2]).toMatchObject({ ...circumstances, method: 'otp' })
    const { submit } = await start({}, browser)
    await submit('consent', { decision: 'allow' }, consent)
    expect(seen(events).at(-1)).toMatchObject({ ...circumstances, type: 'consent_given', scopes: ['openid', 'api1'] })
    expect(JSON.stringify(seen(events))).not.toMatch(/924713|alice-password/u)
  })

  test('fails for a proof that has ended, and beyond the limit', async () => {
    const { passed, events, provider } = await setUpFactors()
    const { enterCode } = await passed()
    for (let tries = 0; tries < 11; tries += 1) await enterCode('000000')
    expect(seen(events).at(-1)).toMatchObject({ reason: 'plugin:authorization-endpoint:second_factor_limit' })
    await provider.revoke({ subject: 'alice' })
    await enterCode('000000')
    expect(seen(events).at(-1)).toMatchObject({ type: 'second_factor_failed', reason: 'proof_outdated' })
  })
})

test('a sign-in by password, a denial, and the end of a session are events', async () => {
  const { start, events, provider } = await setUpSignIn()
  const { enter, submit, browser } = await start()
  const consent = await enter('alice')
  await submit('consent', { decision: 'deny' }, consent)
  expect(types(events)).toEqual(['user_authentication_succeeded', 'session_started', 'authorization_denied'])
  expect(seen(events)[2]).toMatchObject(circumstances)
  await (await start({ prompt: 'login' }, browser)).enter('bob')
  const [sid] = seen(events).flatMap((event) => (event.type === 'session_started' ? [event.sid] : []))
  expect(seen(events)).toContainEqual(expect.objectContaining({ type: 'session_ended', sub: 'alice', sid }))
  expect(provider.observerFailures).toBe(0)
})

test('a sign-in by passkey, a refused and a repeated response are events', async () => {
  const device = createAuthenticator()
  const find = () => ({ sub: 'alice', publicKey: device.publicKey, counter: 0 })
  const { start, events } = await setUpSignIn({ passkeys: passkeys({ find }) })
  const { page, submit } = await start()
  const credential = device.respond(/"challenge":"([\w-]{43})"/u.exec(page.html)?.[1] ?? '')
  await submit('signin', { credential: '{}' })
  expect(nameOf(await submit('signin', { credential }))).toBe('consent')
  const again = await start()
  await again.submit('signin', { credential: '{"x":1}' })
  expect(seen(events).map(({ type, sub }) => [type, sub])).toEqual([
    ['passkey_authentication_failed', undefined],
    ['passkey_authentication_succeeded', 'alice'],
    ['session_started', 'alice'],
    ['passkey_authentication_failed', undefined],
  ])
  expect(seen(events)[0]).toMatchObject({ clientId: 'web', clientAddress: '192.0.2.1', reason: 'response_invalid' })
})

test('the server warns of wrong codes and passkeys', async () => {
  const { passed, events } = await setUpFactors()
  await (await passed()).enterCode('000000')
  const levels = seen(events).map((event) => [event.type, levelOf(event)])
  expect(levels).toEqual([
    ['user_password_accepted', 'info'],
    ['second_factor_failed', 'warn'],
  ])
})
