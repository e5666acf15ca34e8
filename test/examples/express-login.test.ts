import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { exampleStarts, missingForExamples } from './example-folders.ts'
import { type RunningExample, startExample } from './running-example.ts'

const [start] = exampleStarts.filter(({ folder }) => folder === 'express-login')

describeWith(missingForExamples(), 'Express with its own login', () => {
  let example: RunningExample
  beforeAll(async () => {
    example = await startExample(start?.commands ?? '')
    await example.ready
  })
  afterAll(() => example?.stop())

  const urlOf = (more: Record<string, string> = {}): string => {
    const redirect_uri = `${example.base}/hello`
    const request = { client_id: 'web', response_type: 'code', scope: 'openid', redirect_uri, ...more }
    return `${example.base}/authorize?${new URLSearchParams(request)}`
  }
  const open = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } })

  async function signIn(url: string, password: string) {
    const page = await (await open(url)).text()
    const [, query = ''] = /name="query" value="([^"]*)"/u.exec(page) ?? []
    const form = new URLSearchParams({ username: 'alice', password, query: query.replaceAll('&amp;', '&') })
    return fetch(`${example.base}/login`, { method: 'POST', body: form, redirect: 'manual' })
  }

  test('signs a user in, and the code buys an identity token', async () => {
    const signedIn = await signIn(urlOf({ state: 'a b&c', nonce: 'n' }), 'alice-password')
    expect(signedIn.status).toBe(303)
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? []
    const back = await open(`${example.base}${signedIn.headers.get('location')}`, cookie)
    const { searchParams } = new URL(back.headers.get('location') ?? '')
    expect(searchParams.get('state')).toBe('a b&c')
    const form = { grant_type: 'authorization_code', code: searchParams.get('code') ?? '' }
    const issued = await fetch(`${example.base}/connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('web:demo-secret')}` },
      body: new URLSearchParams({ ...form, redirect_uri: `${example.base}/hello` }),
    })
    expect(await issued.json()).toMatchObject({ id_token: expect.any(String) })
    // The session of the host answers, unless the client wants a new authentication.
    expect((await open(urlOf({ prompt: 'none' }), cookie)).headers.get('location')).toMatch(/[?&]code=/u)
    expect((await open(urlOf({ prompt: 'login' }), 'session=unknown')).status).toBe(200)
  })

  // Attack: the user works on in the account of the attacker, without noticing (login CSRF).
  test.each(['cross-site', 'same-site'])('begins no session for the form of another origin: %s', async (site) => {
    const form = new URLSearchParams({ username: 'alice', password: 'alice-password', query: '' })
    const headers = { 'sec-fetch-site': site }
    const forged = await fetch(`${example.base}/login`, { method: 'POST', body: form, headers, redirect: 'manual' })
    expect([forged.status, forged.headers.get('set-cookie')]).toEqual([403, null])
    const sameOrigin = { 'sec-fetch-site': 'same-origin' }
    const accepted = await fetch(`${example.base}/login`, {
      method: 'POST',
      body: form,
      headers: sameOrigin,
      redirect: 'manual',
    })
    expect(accepted.status).toBe(303)
  })

  test('refuses a wrong password, an unknown redirect URI, and a silent request without a session', async () => {
    expect((await signIn(urlOf(), 'wrong')).status).toBe(403)
    expect((await open(urlOf({ redirect_uri: 'https://evil.example/' }))).status).toBe(400)
    expect((await open(urlOf({ prompt: 'none' }))).headers.get('location')).toMatch(/[?&]error=login_required/u)
  })
})
