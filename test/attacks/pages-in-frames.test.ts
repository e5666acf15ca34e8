/**
 * Attack: a page shows the sign-in in a frame, under content of its own, and leads the user to click "Allow"
 * (clickjacking); or it sends forms and requests from a frame, whose cookies `SameSite=None` no longer withholds. An
 * operator permits frames for the pages of a portal; every other page is a page of the attacker.
 *
 * RFC 6749 section 10.13; RFC 9700 section 4.16; CSP Level 3, frame-ancestors.
 */
import { htmlHeaders } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { request } from '../authorization/parties.ts'
import { setUpSignIn } from '../sign-in/parties.ts'

const portal = 'https://portal.example.com'
const crm = 'https://crm.example.net:8443'

const setUpFrames = (frameAncestors?: readonly string[], sameSite: 'lax' | 'none' = 'none') => {
  const pages = createPages(frameAncestors === undefined ? {} : { frameAncestors: [...frameAncestors] })
  return setUpSignIn({ pages }, {}, { pages, sessions: { sameSite }, features: [endSession({ pages })] })
}

const framingOf = (headers: Headers) => [
  /frame-ancestors [^;]*/u.exec(headers.get('content-security-policy') ?? '')?.[0],
  headers.get('x-frame-options'),
]

const issuer = 'https://id.example.com'

describe('a frame', () => {
  test('11.41 shows the pages only to the listed origins', async () => {
    const { start, browser, urlOf } = await setUpFrames([portal, crm])
    const { page, enter, browser: user } = await start()
    const consent = await enter('alice')
    const error = await browser().open(urlOf({ ...request, client_id: 'unknown' }))
    const logout = await user.open(`${issuer}/connect/endsession`)
    for (const { headers } of [page, consent, error, logout]) {
      expect(framingOf(headers)).toEqual([`frame-ancestors ${portal} ${crm}`, null])
    }
  })

  test('11.41 shows no page by default, whatever the cookies are', async () => {
    for (const sameSite of ['lax', 'none'] as const) {
      for (const list of [undefined, []]) {
        const { page } = await (await setUpFrames(list, sameSite)).start()
        expect(framingOf(page.headers)).toEqual(["frame-ancestors 'none'", 'DENY'])
      }
    }
  })

  test('11.41 never shows the page for device codes', () => {
    const { sources } = createPages({ frameAncestors: [portal] }).deviceCode({ step: 'enter_code' }, 'en')
    expect(sources).not.toHaveProperty('ancestor')
  })

  test.each([
    '*',
    'https:',
    "'self'",
    'https://*.example.com',
    'http://portal.example.com',
    `${portal}/`,
    `${portal}; x`,
  ])('11.41 an operator cannot permit %s', (origin) => {
    expect(() => createPages({ frameAncestors: [origin] })).toThrow('must be an https origin')
    expect(() => htmlHeaders({ ancestor: [origin] })).toThrow('invalid ancestor source')
  })
})

describe('cookies that are sent from frames', () => {
  const none = /^Path=\/; HttpOnly; SameSite=None; Secure$/u

  test('11.41 are those of the session and of the waiting request, and none by default', async () => {
    const { browser, enter } = await (await setUpFrames()).start()
    await enter('alice')
    expect([...browser.attributes]).toEqual([
      ['__Host-grantry-browser', expect.stringMatching(none)],
      ['__Host-grantry-session', expect.stringMatching(none)],
    ])
    const usual = await (await setUpFrames(undefined, 'lax')).start()
    await usual.enter('alice')
    expect([...usual.browser.attributes.values()].join()).not.toContain('None')
  })

  test('11.41 do not include the cookie that proves that a form was sent again', async () => {
    const { browser, provider } = await setUpFrames()
    const page = await browser().submit(`${provider.issuer}/connect/authorize`, {
      ...request,
      login_hint: 'x'.repeat(900),
      claims: '{}'.padEnd(4500),
    })
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-grantry-resend=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/u),
    ])
  })

  test('11.41 do not let a form of another site sign a user out, or decide', async () => {
    const { start } = await setUpFrames()
    const { browser, enter, submit } = await start()
    const consent = await enter('alice')
    const attacker = await start()
    const forms: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['endsession', {}],
      ['endsession', { resent: 'a'.repeat(43) }],
      ['endsession/confirm', { decision: 'logout' }],
      ['consent', { decision: 'allow', form_token: hiddenFields(attacker.page).form_token ?? '' }],
    ]
    for (const [path, form] of forms) {
      const { url } = await submit(path, form, consent)
      expect(url.origin, path).toBe(issuer)
    }
    expect((await browser.open(`${issuer}/connect/authorize?${new URLSearchParams(request)}`)).html).toContain('alice')
  })
})

test('11.41 SameSite=None is refused with an http issuer: browsers would drop the cookies', async () => {
  const refused = setUpSignIn({}, { issuer: 'http://127.0.0.1:3000' }, { sessions: { sameSite: 'none' } })
  await expect(refused).rejects.toThrow('sessions.sameSite none requires an https issuer')
  await expect(setUpSignIn({}, {}, { sessions: { sameSite: 'None' as never } })).rejects.toThrow('must be lax or none')
})
