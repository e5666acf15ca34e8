/**
 * Attack: an attacker starts a device authorization, and makes a user who is signed in approve it without wanting to: by
 * a link, by a form of another site, with a form of the attacker's own browser, with a page in a frame, or with script in
 * the id of a client. Or the attacker has an account and guesses the codes of others.
 *
 * RFC 8628 sections 3.3.1, 5.1 and 5.4; RFC 9700 section 4.16.
 */

import type { ClientOptions } from '@grantry/core'
import { deviceGrantType } from '@grantry/plugins/device-authorization'
import { describe, expect, test } from 'vitest'
import { createBrowser, setUpPage } from '../device-authorization/browser.ts'
import { clients } from '../device-authorization/parties.ts'

/** A device of the attacker, and the browser of alice. */
async function setUpAttack(more?: Parameters<typeof setUpPage>[1]) {
  const f = await setUpPage({}, more)
  const { body } = await f.start()
  return {
    ...f,
    userCode: String(body.user_code),
    victim: createBrowser(f.provider, 'alice'),
    outcome: async () => (await f.poll(body.device_code)).body.error,
  }
}

const approve = (token: string) => ({ form_token: token, decision: 'approve' })

describe('a device is not approved', () => {
  test('by a link, even with a valid form token', async () => {
    const { userCode, victim, outcome } = await setUpAttack()
    const { token } = await victim.open({ user_code: userCode })
    await victim.open({ user_code: userCode, ...approve(token) })
    await victim.open(approve(token))
    expect(await outcome()).toBe('authorization_pending')
  })

  test.each([
    ['without a form token', () => ''],
    ['with a malformed form token', () => 'x'],
    [
      'with a changed form token',
      (token: string) => token.slice(0, 80) + (token[80] === 'A' ? 'B' : 'A') + token.slice(81),
    ],
    ['with an overlong form token', (token: string) => token + 'A'.repeat(20_000)],
  ])('by a form of another site %s', async (_, forge) => {
    const { userCode, victim, outcome, events } = await setUpAttack()
    const { token } = await victim.open({ user_code: userCode })
    const { status, html } = await victim.submit({ ...approve(forge(token)), user_code: userCode })
    expect([status, html.includes('This page has expired')]).toEqual([400, true])
    expect(events.at(-1)).toMatchObject({ reason: 'plugin:device-authorization:form_invalid' })
    expect(await outcome()).toBe('authorization_pending')
  })

  test('without the cookie of the page, which a form of another site does not send', async () => {
    const { userCode, victim, outcome } = await setUpAttack()
    const { token } = await victim.open({ user_code: userCode })
    victim.jar.delete('__Host-device')
    expect((await victim.submit(approve(token))).status).toBe(400)
    expect(await outcome()).toBe('authorization_pending')
  })

  test('with the form token of another browser of the same user', async () => {
    const { userCode, victim, outcome, provider } = await setUpAttack()
    const { token } = await createBrowser(provider, 'alice').open({ user_code: userCode })
    await victim.open({ user_code: userCode })
    expect((await victim.submit(approve(token))).status).toBe(400)
    expect(await outcome()).toBe('authorization_pending')
  })

  test('with the form token of the attacker, even if the attacker can set the cookie', async () => {
    const { userCode, victim, outcome, provider } = await setUpAttack()
    const attacker = createBrowser(provider, 'mallory')
    const { token } = await attacker.open({ user_code: userCode })
    victim.jar.set('__Host-device', attacker.jar.get('__Host-device') ?? '')
    expect((await victim.submit(approve(token))).status).toBe(400)
    expect(await outcome()).toBe('authorization_pending')
  })

  // The sign-in of the host can outlast a revocation here.
  test('with a form that was shown before the user was revoked', async () => {
    const { userCode, victim, outcome, provider } = await setUpAttack()
    const { token } = await victim.open({ user_code: userCode })
    await provider.revoke({ subject: 'alice' })
    expect((await victim.submit(approve(token))).status).toBe(400)
    expect(await outcome()).toBe('authorization_pending')
  })

  test('with a form that shows another code', async () => {
    const { userCode, victim, outcome, start, poll } = await setUpAttack()
    const victimsDevice = (await start()).body
    const { token } = await victim.open({ user_code: victimsDevice.user_code })
    expect((await victim.submit({ ...approve(token), user_code: userCode })).status).toBe(200)
    expect(await outcome()).toBe('authorization_pending')
    expect((await poll(victimsDevice.device_code)).status).toBe(200)
  })

  test('by sending the form of an earlier decision again', async () => {
    const { userCode, victim, outcome } = await setUpAttack()
    const { token } = await victim.open({ user_code: userCode })
    await victim.submit({ form_token: token, decision: 'deny' })
    expect((await victim.submit(approve(token))).status).toBe(400)
    expect(await outcome()).toBe('access_denied')
  })

  test('with a form whose code has expired', async () => {
    const { userCode, victim, outcome, clock } = await setUpAttack()
    const { token } = await victim.open({ user_code: userCode })
    clock.advance(600)
    expect((await victim.submit(approve(token))).html).toContain('This page has expired')
    expect(await outcome()).toBe('expired_token')
  })

  test('in a frame: every page forbids frames, scripts and referrers', async () => {
    const { userCode, victim, provider } = await setUpAttack()
    const asked = await victim.open({ user_code: userCode })
    const pages = [
      await createBrowser(provider).open(),
      await victim.open(),
      await victim.open({ user_code: 'BCDF-GHJK' }),
      asked,
      await victim.submit(approve(asked.token)),
    ]
    for (const { headers } of pages) {
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(
        /^default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; style-src 'sha256-[\w+/]{43}='$/u,
      )
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

test('the id of a client cannot contain markup', async () => {
  const clientId = `"><script>alert('1')</script>&`
  const hostile: ClientOptions = { clientId, public: true, grantTypes: [deviceGrantType], scopes: ['api1'] }
  const { start, victim } = await setUpAttack({ clients: [...clients, hostile] })
  const { body } = await start({ scope: 'api1', client_id: clientId }, null)
  const { html } = await victim.open({ user_code: body.user_code })
  expect(html).toContain('&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;')
  expect(html).not.toContain('<script')
})

test.each(['"><script>', 'BCDF-GHJK'])('a page does not repeat the code %j, which may be markup', async (typed) => {
  const { victim } = await setUpAttack()
  const { status, html } = await victim.open({ user_code: typed })
  expect(status).toBe(400)
  expect(html).not.toContain(typed)
})

test('ten codes can be guessed from one address, also with different accounts and methods', async () => {
  const { userCode, provider, outcome, clock } = await setUpAttack()
  const attacker = (name: string) => createBrowser(provider, name, '198.51.100.7')
  for (let guess = 0; guess < 5; guess += 1) {
    expect((await attacker(`mallory${guess}`).open({ user_code: 'BCDF-GHJK' })).status).toBe(400)
    expect((await attacker(`mallory${guess}`).submit({ user_code: 'BCDF-GHJL' })).status).toBe(400)
  }
  for (const refused of [
    await attacker('mallory').open({ user_code: userCode }),
    await attacker('mallory').submit({ user_code: userCode }),
  ]) {
    expect([refused.status, refused.token]).toEqual([429, ''])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.html).toContain('too many wrong codes')
  }
  expect(await outcome()).toBe('authorization_pending')
  clock.advance(600)
  expect((await attacker('mallory').open({ user_code: 'BCDF-GHJK' })).status).toBe(400)
})

test('what cannot be a code is no guess: users behind one address would lock each other out', async () => {
  const { userCode, victim } = await setUpAttack()
  for (const typed of ['WDJB', 'WDJB-MJHTX', '0000-0000', 'x'.repeat(50)]) {
    for (let typo = 0; typo < 5; typo += 1) expect((await victim.open({ user_code: typed })).status).toBe(400)
  }
  expect((await victim.open({ user_code: userCode })).status).toBe(200)
})

test('a wrong, an expired and a decided code get the same page', async () => {
  const { userCode, victim, start, clock } = await setUpAttack()
  const { token } = await victim.open({ user_code: userCode })
  await victim.submit(approve(token))
  const decided = await victim.open({ user_code: userCode })
  const wrong = await victim.open({ user_code: 'BCDF-GHJK' })
  const { body } = await start()
  clock.advance(600)
  const expired = await victim.open({ user_code: body.user_code })
  for (const page of [decided, expired]) expect([page.status, page.html]).toEqual([wrong.status, wrong.html])
})

test('no code, cookie or form token is in an event', async () => {
  const { userCode, victim, events } = await setUpAttack()
  await victim.open({ user_code: 'BCDF-GHJK' })
  const { token } = await victim.open({ user_code: userCode })
  await victim.submit({ form_token: 'x'.repeat(50), decision: 'approve' })
  await victim.submit(approve(token))
  const text = JSON.stringify(events)
  for (const secret of [userCode, userCode.replace('-', ''), 'BCDF', token, victim.jar.get('__Host-device') ?? '-']) {
    expect(text).not.toContain(secret)
  }
})
