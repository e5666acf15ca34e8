/**
 * Attack: another site makes the browser of a user change the account, by a link, by a form, or with a form token that the
 * attacker got for an account, a session or a form of their own. Or a user names the session or the application of another
 * user.
 *
 * RFC 9700 section 4.7 (request forgery); decision 164.
 */

import { describe, expect, test } from 'vitest'
import { accountUri, linksTo, setUpAccount } from '../account/parties.ts'
import { hiddenFields } from '../authorization/browser.ts'

/** Alice with two sessions and an application, and the pages that change something, in the browser of the victim. */
async function setUpAttack() {
  const f = await setUpAccount()
  const victim = await f.signedIn()
  const otherSession = await f.signedIn()
  await f.authorize(victim.browser)
  const page = await victim.browser.open(accountUri)
  const changes = [...linksTo(page, 'sessions/'), ...linksTo(page, 'applications/')]
  /** Whether nothing has changed. */
  const isUntouched = async () => {
    const after = await victim.browser.open(accountUri)
    const isSignedIn = (await otherSession.browser.open(accountUri)).html.includes('id="sessions"')
    return isSignedIn && changes.every((url) => after.html.includes(url))
  }
  return { ...f, victim: victim.browser, otherBrowser: otherSession.browser, changes, isUntouched }
}

describe('a form of the account changes nothing', () => {
  test('20.41 by a link, even with a valid form token', async () => {
    const { victim, changes, isUntouched } = await setUpAttack()
    expect(changes).toHaveLength(3)
    for (const url of changes) {
      const fields = hiddenFields(await victim.open(url))
      await victim.open(`${url}?${new URLSearchParams(fields)}`)
    }
    expect(await isUntouched()).toBe(true)
  })

  test.each([
    ['without a form token', () => ''],
    ['with a malformed form token', () => 'x'],
    [
      'with a changed form token',
      (token: string) => token.slice(0, 60) + (token[60] === 'A' ? 'B' : 'A') + token.slice(61),
    ],
    ['with an overlong form token', (token: string) => token + 'A'.repeat(20_000)],
  ])('by a form of another site %s', async (_, forge) => {
    const { victim, changes, isUntouched, events } = await setUpAttack()
    for (const url of changes) {
      const { form_token = '' } = hiddenFields(await victim.open(url))
      const { status, html } = await victim.submit(url, { form_token: forge(form_token) })
      expect([status, html.includes('This page has expired')]).toEqual([400, true])
      expect(events.at(-1)).toMatchObject({ reason: 'plugin:authorization-endpoint:form_invalid' })
    }
    expect(await isUntouched()).toBe(true)
  })

  test('with a form token of another form, another session of the user, or another user', async () => {
    const { victim, otherBrowser, changes, isUntouched, signedIn } = await setUpAttack()
    const { browser: stranger } = await signedIn('bob')
    await signedIn('bob')
    let tried = 0
    for (const [index, url] of changes.entries()) {
      const tokens = [
        hiddenFields(await victim.open(changes[(index + 1) % changes.length] ?? '')).form_token,
        hiddenFields(await otherBrowser.open(url)).form_token,
        hiddenFields(await stranger.open(`${accountUri}/sessions/end-others`)).form_token,
      ]
      for (const form_token of tokens.filter((token) => token !== undefined)) {
        tried += 1
        expect((await victim.submit(url, { form_token })).status).toBe(400)
      }
    }
    // Without a form for one of them: a browser does not end its session as that of another one.
    expect(tried).toBe(8)
    expect(await isUntouched()).toBe(true)
  })

  test('with a form token from before another sign-in of the user', async () => {
    const { victim, changes, isUntouched, enter, clock } = await setUpAttack()
    const [url = ''] = changes
    const { form_token = '' } = hiddenFields(await victim.open(url))
    clock.advance(301)
    await enter(victim, await victim.open(url))
    expect((await victim.submit(url, { form_token })).status).toBe(400)
    expect(await isUntouched()).toBe(true)
  })

  test('after half an hour', async () => {
    const { victim, changes, clock, isUntouched } = await setUpAccountFor(86_400)
    const [url = ''] = changes
    const { form_token = '' } = hiddenFields(await victim.open(url))
    clock.advance(1800)
    expect((await victim.submit(url, { form_token })).status).toBe(400)
    expect(await isUntouched()).toBe(true)
  })
})

/** As `setUpAttack`, with another time for changes. */
async function setUpAccountFor(maxAge: number) {
  const f = await setUpAccount({ account: { maxAge } })
  const { browser: victim } = await f.signedIn()
  const otherSession = await f.signedIn()
  const changes = linksTo(await victim.open(accountUri), 'sessions/')
  const isUntouched = async () => (await otherSession.browser.open(accountUri)).html.includes('id="sessions"')
  return { ...f, victim, changes, isUntouched }
}

describe('a user who is signed in', () => {
  test('cannot end the session or the access of another user', async () => {
    const { changes, isUntouched, signedIn, send } = await setUpAttack()
    const { browser: bob } = await signedIn('bob')
    for (const url of changes.filter((change) => !change.endsWith('end-others'))) {
      // There is no form for it.
      const shown = await bob.open(url)
      expect([shown.url.href, hiddenFields(shown)]).toEqual([accountUri, {}])
    }
    await send(bob, await bob.open(`${accountUri}/sessions/end-others`))
    expect(await isUntouched()).toBe(true)
  })

  test('sees nothing of another user', async () => {
    const { changes, signedIn } = await setUpAttack()
    const { page } = await signedIn('bob')
    for (const url of changes) expect(page.html).not.toContain(url)
    expect(page.html).not.toContain('alice')
  })
})

test('a page of the account is in no frame, runs no foreign script, and is in no cache', async () => {
  const { victim, changes } = await setUpAttack()
  for (const url of [accountUri, ...changes]) {
    const { headers } = await victim.open(url)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self'")
    expect(policy).not.toContain('unsafe')
    expect([headers.get('x-frame-options'), headers.get('cache-control')]).toEqual(['DENY', 'no-store'])
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})
