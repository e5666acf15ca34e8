/**
 * Attack: a client asks for every scope of a user who is signed in at a host with pages of its own. The host has copied an
 * interaction that grants what a request asks for, so no page asks the user.
 *
 * RFC 6749 section 10.2; RFC 9700 section 4.11.2.
 */
import { defineEndpoint, type Reply } from '@grantry/core'
import {
  authorizationRequests,
  type HostDecision,
  type InteractionPort,
  remoteInteractions,
  userConsents,
} from '@grantry/plugins/authorization-endpoint'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page } from '../authorization/browser.ts'
import { alice, clients, request, setUp } from '../authorization/parties.ts'

const isCode = { code: expect.stringMatching(/^[\w-]{43}$/u) }
const subject = { ...alice, authTime: 1 }

/** Alice is signed in at the host. A page asks her, and its form answers. */
const asking = (remember = true): InteractionPort => ({
  async interact({ recallConsent, suspend, request: { prompts } }) {
    const consented = await recallConsent('alice')
    if (consented !== undefined) return { ...consented, subject }
    if (prompts.has('none')) return { refuse: 'consent_required' }
    return { html: `<p>consent</p><input type="hidden" name="interaction" value="${(await suspend()).id}">` }
  },
  parts: ({ interactions }) => [
    defineEndpoint({
      name: 'ownConsent',
      path: '/consent',
      methods: ['POST'],
      caller: 'anyone',
      params: v.object({ interaction: v.string() }),
      async handle({ params, request: http }, kit): Promise<Reply> {
        const interaction = await interactions.find(kit, http, params.interaction)
        if (interaction === undefined) return { html: 'expired' }
        return interactions.complete(interaction, { subject, scopes: interaction.request.scopes, remember })
      },
    }),
  ],
})

async function setUpAsking(interaction = asking()) {
  const f = await setUp(interaction)
  const user = f.browser()
  const ask = (more = {}): Promise<Page> => user.open(f.urlOf({ ...request, ...more }))
  const allow = (page: Page) => user.submit(`${f.provider.issuer}/consent`, hiddenFields(page))
  return { ...f, ask, allow }
}

describe('an interaction of a host', () => {
  test.each([
    ['the session', {}],
    ['prompt=consent', { prompt: 'consent' }],
    ['prompt=none', { prompt: 'none' }],
  ])('gives no code if it neither asks the user nor states that it trusts the client: %s', async (_name, more) => {
    const { browser, urlOf, events } = await setUp({
      interact: ({ request: { scopes } }) => ({ subject, scopes }) as never,
    })
    const end = await browser().open(urlOf({ ...request, scope: 'openid profile offline_access api1', ...more }))
    expect(answer(end)).toMatchObject({ error: 'consent_required', state: request.state })
    expect(events.at(-1)).toMatchObject({ detail: expect.stringContaining('trusted: true') })
  })

  test.each([
    ['trusted: 1', { trusted: 1 }],
    ['consented without a record', { consented: true }],
  ])('gives no code by %s', async (_name, word) => {
    const { browser, urlOf } = await setUp({
      interact: ({ request: { scopes } }) => ({ subject, scopes, ...word }) as never,
    })
    expect(answer(await browser().open(urlOf(request)))).toMatchObject({ error: 'consent_required' })
  })

  test('asks, and remembers a consent if the decision states it', async () => {
    const { ask, allow } = await setUpAsking()
    expect(answer(await ask({ prompt: 'none' })).error).toBe('consent_required')
    expect(answer(await allow(await ask()))).toMatchObject(isCode)
    expect(answer(await ask({ prompt: 'none' }))).toMatchObject(isCode)
    expect(answer(await ask({ prompt: 'none', scope: 'openid profile' })).error).toBe('consent_required')
    expect((await ask({ prompt: 'consent' })).html).toContain('consent')
  })

  test('remembers no consent otherwise', async () => {
    const { ask, allow } = await setUpAsking(asking(false))
    expect(answer(await allow(await ask()))).toMatchObject(isCode)
    expect(answer(await ask({ prompt: 'none' })).error).toBe('consent_required')
  })

  test('does not use the consent of one user for another', async () => {
    let sub = 'alice'
    const port = asking()
    const { ask, allow } = await setUpAsking({
      ...port,
      async interact(interaction) {
        const result = await port.interact(interaction)
        return 'consented' in result ? { ...result, subject: { ...alice, sub } } : result
      },
    })
    await allow(await ask())
    sub = 'bob'
    expect(answer(await ask()).error).toBe('consent_required')
  })
})

test('a consent that a login application has asked for is remembered if the decision states it', async () => {
  const { browser, urlOf, provider } = await setUp({
    async interact({ mustSignIn, recallConsent, suspend }) {
      const consented = mustSignIn ? undefined : await recallConsent()
      return consented ?? { location: `https://login.example.net/?id=${(await suspend()).id}` }
    },
  })
  const user = browser()
  const end = await user.open(urlOf(request))
  const { scope } = request
  const decision = { subject: { sub: 'alice', amr: ['pwd'] }, scopes: scope.split(' '), remember: true }
  const url = await provider.use(remoteInteractions).complete(end.url.searchParams.get('id') ?? '', decision)
  expect(answer(await user.open(url ?? ''))).toMatchObject(isCode)
  expect(answer(await user.open(urlOf({ ...request, prompt: 'none' })))).toMatchObject(isCode)
})

describe('pages of a host that keeps everything to itself', () => {
  async function parsed() {
    const { provider } = await setUp(asking())
    const checked = await provider
      .use(authorizationRequests)
      .parse(new Request(`https://h.example/?${new URLSearchParams(request)}`))
    if ('response' in checked) throw new Error('refused')
    return { provider, checked }
  }
  const errorOf = (response: Response) => new URL(response.headers.get('location') ?? '').searchParams.get('error')

  test.each([{}, { trusted: false }, { consented: 'yes' }, { remember: true }])(
    'give no code for a decision that neither trusts the client nor states a consent: %j',
    async (word) => {
      const { provider, checked } = await parsed()
      const decision = { subject: alice, scopes: checked.scopes, ...word } as unknown as HostDecision
      const { response, error } = await provider.use(authorizationRequests).respond(checked, decision)
      expect([errorOf(response), error]).toEqual(['consent_required', 'consent_required'])
    },
  )

  test('can remember consents', async () => {
    const { provider, checked } = await parsed()
    const consents = provider.use(userConsents)
    expect(await consents.suffice(checked, 'alice')).toBe(false)
    const decision = { subject: alice, scopes: checked.scopes, consented: true, remember: true } as const
    await provider.use(authorizationRequests).respond(checked, decision)
    expect(await consents.suffice(checked, 'alice')).toBe(true)
    expect(await consents.suffice(checked, 'bob')).toBe(false)
  })
})

test('a client with requireConsent: false gets a code without a question', async () => {
  const { browser, urlOf } = await setUp(
    asking(),
    {},
    { clients: [{ ...clients[0], clientId: 'web', requireConsent: false }] },
  )
  expect(answer(await browser().open(urlOf({ ...request, prompt: 'consent' })))).toMatchObject(isCode)
})

test('a consent that is not remembered is an event, too', async () => {
  const { ask, allow, events } = await setUpAsking(asking(false))
  await allow(await ask())
  expect(events).toContainEqual(expect.objectContaining({ type: 'consent_given', sub: 'alice', clientId: 'web' }))
})
