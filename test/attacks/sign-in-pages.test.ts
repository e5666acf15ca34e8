/**
 * Attack: a client, a user or a link brings markup to a page of the sign-in, to run script or to change the page; another
 * site shows a page in a frame, to let the user press its buttons (clickjacking); or a page stays in a cache, so that the
 * next user of the machine sees it.
 */
import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import { describe, expect, test } from 'vitest'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { clients, redirectUri, request } from '../authorization/parties.ts'
import { setUpSignIn } from '../sign-in/parties.ts'

const markup = `"><script>alert(1)</script><img src=x onerror='alert(1)'>{name}`
const uri = `https://client.example.com/"><script>alert(1)</script>`

const hostile: ClientOptions = {
  ...clients[0],
  clientId: 'web',
  clientName: markup,
  clientUri: uri,
  logoUri: uri,
  policyUri: uri,
  tosUri: uri,
  redirectUris: [redirectUri],
}

/** Every page of a sign-in, of a client and a user whose texts are markup, for a link with markup. */
async function allPages(): Promise<readonly (readonly [string, Page])[]> {
  const pages = createPages({ name: markup, scopes: { api1: markup, profile: { en: markup } } })
  let tries = 0
  const users = {
    authenticate: ({ username, password }: { username: string; password: string }) => {
      tries += 1
      return username === markup && password === 'right' ? { sub: `sub ${markup}` } : undefined
    },
  }
  const { start, provider, clock } = await setUpSignIn(
    { pages },
    { users, abuseControl: { passwords: { perUserAndAddress: { failures: 2, window: 60 } } }, clients: [hostile] },
    { pages, features: [endSession({ pages })] },
  )
  const { issuer } = provider
  const claims = JSON.stringify({ userinfo: { [markup.replaceAll(' ', '')]: null } })
  const texts = { state: markup, login_hint: markup, ui_locales: markup, nonce: markup, display: markup }
  const parameters = { ...texts, claims, scope: 'openid profile api1' }
  const { page, browser, enter, submit } = await start(parameters)
  const expired = await submit('signin', { form_token: markup, username: markup, password: markup })
  const wrong = await enter(markup, 'wrong')
  await enter(markup, 'wrong')
  const refused = await enter(markup, 'right')
  expect(tries).toBe(2)
  clock.advance(60)
  const consent = await enter(markup, 'right')
  const choice = await start({ ...parameters, prompt: 'select_account' }, browser)
  const to = (path: string, query: Readonly<Record<string, string>>) =>
    browser.open(`${issuer}/connect/${path}?${new URLSearchParams(query)}`)
  const question = await to('endsession', { ui_locales: markup, logout_hint: markup })
  const decide = (decision: string) =>
    browser.submit(`${issuer}/connect/endsession/confirm`, { ...hiddenFields(question), decision })
  return [
    ['sign-in', page],
    ['expired form', expired],
    ['wrong password', wrong],
    ['refused for now', refused],
    ['consent', consent],
    ['choice of an account', choice.page],
    ['form_post', (await start({ ...parameters, prompt: 'none', response_mode: 'form_post' }, browser)).page],
    ['unknown client', await to('authorize', { ...request, client_id: markup })],
    ['unknown request', await browser.submit(`${issuer}/connect/consent`, { interaction: markup, form_token: markup })],
    ['wrong method', await to('signin', { username: markup })],
    [
      'repeated parameter',
      await browser.open(`${issuer}/connect/authorize?state=${encodeURIComponent(markup)}&state=b`),
    ],
    ['logout', question],
    ['still signed in', await decide('stay')],
    ['signed out', await decide('logout')],
  ]
}

const shown = await allPages()

test('shows all pages, with the texts', () => {
  expect(shown.map(([name, { status }]) => [name, status])).toEqual([
    ['sign-in', 200],
    ['expired form', 200],
    ['wrong password', 200],
    ['refused for now', 429],
    ['consent', 200],
    ['choice of an account', 200],
    ['form_post', 200],
    ['unknown client', 400],
    ['unknown request', 400],
    ['wrong method', 400],
    ['repeated parameter', 400],
    ['logout', 200],
    ['still signed in', 200],
    ['signed out', 200],
  ])
  const escaped = '&quot;&gt;&lt;script&gt;alert(1)'
  for (const [name, { html }] of shown.slice(0, 6)) expect(html.split(escaped).length, name).toBeGreaterThan(3)
})

describe.each(shown)('the page: %s', (_, { html, headers }) => {
  test('contains no markup of a client, a user or a link', () => {
    // Without markup of others, each tag has its attributes in double quotes, and text has no angle bracket.
    const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gsu)].map(([, script = '']) => script)
    const constant = /<style>[^<]*<\/style>|<script>.*?<\/script>/gsu
    const tags = html.replaceAll(constant, '').split(/<\/?(?=[a-z!])/u)
    for (const tag of tags.slice(1)) {
      const [, attributes = '?', text = '?'] = /^[a-z!]\w*((?: [\w-]+(?:="[^"<>]*")?)*)\/?>([^<>]*)$/u.exec(tag) ?? []
      expect(attributes.replaceAll(/="[^"]*"/gu, ''), tag).not.toMatch(/\?|\son|\sstyle/u)
      expect(text, tag).not.toBe('?')
    }
    expect(scripts.length).toBeLessThanOrEqual(1)
    for (const script of scripts) expect(script).not.toMatch(/alert|onerror|example\.com/u)
    expect(html).not.toMatch(/(?:href|src|action)="(?!https:\/\/(?:client|id)\.example\.com\/)/u)
  })

  test('allows no frame, no script of others, no cache and no referrer', () => {
    const { 'content-security-policy': policy = '', ...others } = Object.fromEntries(headers)
    expect(others).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'strict-transport-security': 'max-age=31536000',
      'referrer-policy': 'no-referrer',
    })
    const directives = Object.fromEntries(
      policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    )
    expect(directives).toMatchObject({
      'default-src': "'none'",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
    })
    const hash = /^'sha256-[A-Za-z\d+/]{43}='$/u
    expect(directives['style-src']).toMatch(hash)
    // Only the script of the pages, by its hash.
    if (html.includes('<script')) expect(directives['script-src']).toMatch(hash)
    else expect(directives).not.toHaveProperty('script-src')
    // None where the redirects of the client follow a form: decision 97.
    expect(directives['form-action'] ?? "'self'").toBe("'self'")
    expect(directives['img-src'] ?? '').toMatch(/^(?:https:\/\/client\.example\.com)?$/u)
    expect(policy).not.toMatch(/unsafe|\*|alert/u)
  })
})
