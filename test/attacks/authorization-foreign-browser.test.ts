/**
 * Attack: an attacker begins an authorization request and lets a victim finish it, to get a code for the account of the
 * victim (fixation), or lets a victim finish one of the attacker, so that the victim uses the account of the attacker
 * (login CSRF). Or the attacker knows the id of a request of the victim, sets cookies from a neighboring host (cookie
 * tossing), or answers a request again.
 *
 * RFC 6819 section 4.4.1.8; RFC 9700 section 4.7.
 */

import { remoteInteractions } from '@grantry/plugins/authorization-endpoint'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page } from '../authorization/browser.ts'
import { nameOf, setUpPages } from '../authorization/own-pages.ts'
import { alice, request, setUp } from '../authorization/parties.ts'

const resumeOf = (page: Page) =>
  `https://id.example.com/connect/authorize/resume?interaction=${hiddenFields(page).interaction}`

/** A victim who is signed in, and a request that the attacker has begun. */
async function setUpAttack() {
  const f = await setUpPages()
  const [attacker, victim] = [f.browser(), f.browser()]
  await f.signIn(victim)
  return { ...f, attacker, victim, begun: await f.ask(attacker) }
}

describe('a request of the attacker', () => {
  test('is not answered by a link that the victim opens', async () => {
    const { attacker, victim, begun } = await setUpAttack()
    const opened = await victim.open(resumeOf(begun))
    expect([opened.status, opened.headers.get('location')]).toEqual([400, null])
    expect(nameOf(await attacker.open(resumeOf(begun)))).toBe('sign-in')
  })

  test('is not answered by a form that the victim submits', async () => {
    const { attacker, victim, begun, submit } = await setUpAttack()
    expect((await submit(victim, begun, { username: 'alice' })).status).toBe(400)
    expect(nameOf(await attacker.open(resumeOf(begun)))).toBe('sign-in')
  })

  test('does not sign the victim in as the attacker', async () => {
    const { attacker, victim, begun, submit, ask } = await setUpAttack()
    const cookies = [...victim.jar]
    await submit(victim, begun, { username: 'mallory' })
    expect([...victim.jar]).toEqual(cookies)
    await submit(attacker, begun, { username: 'mallory' })
    const opened = await victim.open(resumeOf(begun))
    expect(opened.status).toBe(400)
    expect(answer(await ask(victim, { prompt: 'none' })).code).toBeDefined()
  })
})

describe('a request of the victim', () => {
  test('is not answered by an attacker who knows its id', async () => {
    const { attacker, victim, ask, submit } = await setUpAttack()
    const page = await ask(victim, { prompt: 'login' })
    expect((await submit(attacker, page, { username: 'mallory' })).status).toBe(400)
    expect((await submit(attacker, page, { refuse: 'access_denied' })).status).toBe(400)
    expect((await attacker.open(resumeOf(page))).status).toBe(400)
    expect(answer(await submit(victim, page, { username: 'alice' })).code).toBeDefined()
  })

  test('cannot be continued with the cookie of another browser, or with two', async () => {
    const { attacker, victim, ask, provider } = await setUpAttack()
    const page = await ask(victim, { prompt: 'login' })
    const name = '__Host-grantry-browser'
    const [genuine, tossed] = [`${name}=${victim.jar.get(name)}`, `${name}=${attacker.jar.get(name)}`]
    const statusWith = async (cookie: string) =>
      (await provider.fetch(new Request(resumeOf(page), { headers: { cookie } }))).status
    expect(await statusWith(genuine)).toBe(200)
    for (const cookie of [
      tossed,
      `${genuine}; ${tossed}`,
      `${tossed}; ${genuine}`,
      genuine.replace('__Host-', ''),
      `${genuine}x`,
    ]) {
      expect(await statusWith(cookie)).toBe(400)
    }
  })

  test('gets no second code when its answer is sent again', async () => {
    const { victim, ask, submit } = await setUpAttack()
    const page = await ask(victim, { prompt: 'login' })
    await submit(victim, page, { username: 'alice' })
    for (const again of [await submit(victim, page, { username: 'alice' }), await victim.open(resumeOf(page))]) {
      expect([again.status, again.url.searchParams.has('code')]).toEqual([400, false])
    }
  })

  test('is not answered by a cookie that the attacker knows: a sign-in changes the session', async () => {
    const { attacker, victim, ask, submit, signIn } = await setUpAttack()
    await signIn(attacker, 'mallory')
    const name = '__Host-grantry-session'
    const planted = attacker.jar.get(name) ?? ''
    victim.jar.set(name, planted)
    const page = await ask(victim, { prompt: 'login' })
    await submit(victim, page, { username: 'alice' })
    expect(victim.jar.get(name)).not.toBe(planted)
    expect(answer(await ask(attacker, { prompt: 'none' }))).toMatchObject({ error: 'login_required' })
  })
})

describe('with a login application on another host', () => {
  async function setUpRemote() {
    const f = await setUp({
      interact: async ({ mustSignIn, request: { scopes }, suspend }) =>
        mustSignIn ? { location: `https://login.example.net/?id=${(await suspend()).id}` } : { scopes, trusted: true },
    })
    const [attacker, victim] = [f.browser(), f.browser()]
    const { url } = await attacker.open(f.urlOf(request))
    return {
      ...f,
      attacker,
      victim,
      id: url.searchParams.get('id') ?? '',
      remote: f.provider.use(remoteInteractions),
    }
  }
  const decision = { subject: alice, scopes: ['openid'] }

  test('an attacker whose link the victim follows gets no code for the victim', async () => {
    const { attacker, victim, id, remote, provider } = await setUpRemote()
    const url = (await remote.complete(id, decision)) ?? ''
    const withoutTicket = `${provider.issuer}/connect/authorize/resume?interaction=${id}`
    // The attacker does not know the ticket, and the browser of the victim did not begin the request.
    const guessed = await attacker.open(`${withoutTicket}&ticket=${'x'.repeat(43)}`)
    expect([guessed.status, guessed.headers.get('location')]).toEqual([400, null])
    expect(answer(await attacker.open(withoutTicket))).not.toHaveProperty('code')
    expect((await victim.open(url)).status).toBe(400)
    // Neither has the decision survived the wrong browser.
    expect((await attacker.open(url)).status).toBe(400)
  })

  test('a ticket answers no other request of the same browser', async () => {
    const { attacker, id, remote, urlOf } = await setUpRemote()
    const { url: second } = await attacker.open(urlOf({ ...request, scope: 'openid' }))
    const url = new URL((await remote.complete(id, decision)) ?? '')
    url.searchParams.set('interaction', second.searchParams.get('id') ?? '')
    expect((await attacker.open(url.href)).status).toBe(400)
  })
})
