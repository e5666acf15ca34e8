// A feature as a third party writes it, with imports of packages only: users accept the terms of the provider before any
// client gets a code. The guide of the authorization endpoint explains it.
import { defineEndpoint, type EndpointKit } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import {
  type AuthorizationEndpointOptions,
  type AuthorizationFeature,
  authorizationEndpoint,
  errorViewOf,
  plainPages,
  type SuspendedInteraction,
} from '@grantry/plugins/authorization-endpoint'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { signIn } from '@grantry/plugins/sign-in'
import { createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { answer, createBrowser, hiddenFields, type Page } from './browser.ts'
import { alice, clients, redirectUri, request, web } from './parties.ts'

const accepted = v.object({ version: v.string() })
const token = v.object({ terms: v.string(), id: v.string(), browser: v.string() })
const year = 31_536_000

function terms(version: string): AuthorizationFeature {
  const isAccepted = async (kit: EndpointKit, sub: string) =>
    (await kit.records.get(`terms of ${sub}`, accepted))?.version === version
  const isToken = async (kit: EndpointKit, text: string, { id, browser }: SuspendedInteraction, sub: string) => {
    const claims = await kit.unseal(text, token)
    return claims?.terms === `${version} ${sub}` && claims.id === id && kit.equals(claims.browser, browser)
  }
  return {
    async step({ kit, suspend }, sub) {
      if (await isAccepted(kit, sub)) return undefined
      const { id, browser, expiresAt } = await suspend()
      const sealed = await kit.seal({ terms: `${version} ${sub}`, id, browser }, expiresAt)
      return {
        html: `<form method="post" action="${kit.endpointUrl('terms')}">Terms ${version}
<input type="hidden" name="interaction" value="${id}"><input type="hidden" name="token" value="${sealed}">
<button name="decision" value="accept">Accept</button><button name="decision" value="refuse">Refuse</button></form>`,
      }
    },
    parts: ({ interactions }) => [
      defineEndpoint({
        name: 'terms',
        path: '/connect/terms',
        methods: ['POST'],
        caller: 'anyone',
        params: v.object({ interaction: v.string(), token: v.string(), decision: v.string() }),
        async handle({ params, request: http }, kit) {
          const interaction = await interactions.find(kit, http, params.interaction)
          const sub = interaction?.session?.subject.sub
          if (interaction === undefined || sub === undefined || !(await isToken(kit, params.token, interaction, sub))) {
            throw kit.refuse('invalid_request', 'The form has expired', 'form_expired')
          }
          if (params.decision !== 'accept') return interactions.refuse(interaction, 'access_denied')
          await kit.records.put(`terms of ${sub}`, { version }, kit.now() + year)
          return { location: interactions.resumeUrl(kit, interaction.id) }
        },
        presentError: async (error, http, kit) => plainPages.error(await errorViewOf(error, http, kit), 'en'),
      }),
    ],
  }
}

async function setUp(options: Partial<AuthorizationEndpointOptions> = {}) {
  const interaction = signIn({ pages: createPages() })
  const plugins = [
    authorizationCode(),
    refreshToken(),
    authorizationEndpoint({ interaction, features: [terms('1')], ...options }),
  ]
  const f = await createTestProvider({
    plugins,
    clients: clients.filter(({ clientId }) => clientId === web[0]),
    users: { authenticate: ({ username }) => ({ sub: username }), isActive: () => true },
  })
  const url = (more: Readonly<Record<string, string>> = {}) =>
    `${f.provider.issuer}/connect/authorize?${new URLSearchParams({ ...request, ...more })}`
  const form = `${f.provider.issuer}/connect/terms`
  return { ...f, url, form, browser: () => createBrowser(f.provider) }
}

type Browser = ReturnType<typeof createBrowser>

const post = (browser: Browser, page: Page, fields: Readonly<Record<string, string>>, to?: string): Promise<Page> => {
  const [, action = ''] = /<form[^>]* action="([^"]*)"/u.exec(page.html) ?? []
  return browser.submit(to ?? new URL(action.replaceAll('&amp;', '&'), page.url).href, {
    ...hiddenFields(page),
    ...fields,
  })
}
const signInAs = async (browser: Browser, url: string, username = 'alice') =>
  post(browser, await browser.open(url), { username, password: 'secret' })

describe('a step of a feature', () => {
  test('comes between the sign-in and the consent, once for each user', async () => {
    const { url, browser: open, post: send } = await setUp()
    const browser = open()
    const page = await signInAs(browser, url())
    expect(page.html).toContain('Terms 1')
    const consent = await post(browser, page, { decision: 'accept' })
    expect(consent.html).not.toContain('Terms 1')
    const { code = '', state } = answer(await post(browser, consent, { decision: 'allow' }))
    expect(state).toBe(request.state)
    const { status } = await send('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
    expect(status).toBe(200)
    expect(answer(await browser.open(url())).code).toBeDefined()
    expect((await signInAs(open(), url(), 'bob')).html).toContain('Terms 1')
  })

  test('refuses, and the client is informed', async () => {
    const { url, browser: open } = await setUp()
    const browser = open()
    const page = await signInAs(browser, url())
    expect(answer(await post(browser, page, { decision: 'refuse' }))).toMatchObject({ error: 'access_denied' })
  })

  test('is not shown with prompt=none', async () => {
    const { url, browser: open } = await setUp()
    const browser = open()
    await signInAs(browser, url())
    expect(answer(await browser.open(url({ prompt: 'none' })))).toMatchObject({ error: 'interaction_required' })
  })

  test('cannot be left out by a form of another step, or the id of the request', async () => {
    const { url, browser: open, provider } = await setUp()
    const browser = open()
    const page = await signInAs(browser, url())
    const { interaction = '' } = hiddenFields(page)
    const consent = `${provider.issuer}/connect/consent`
    for (const form_token of ['', hiddenFields(page).token ?? '']) {
      const shown = await browser.submit(consent, { interaction, form_token, decision: 'allow' })
      expect(answer(shown).code).toBeUndefined()
    }
    const resumed = `${provider.issuer}/connect/authorize/resume?${new URLSearchParams({ interaction })}`
    expect((await browser.open(resumed)).html).toContain('Terms 1')
  })

  test('belongs to the user who has signed in, in this browser', async () => {
    const { url, form, browser: open } = await setUp()
    const [browser, thief] = [open(), open()]
    const page = await signInAs(browser, url())
    const foreign = await post(thief, page, { decision: 'accept' }, form)
    expect([foreign.status, foreign.html]).toEqual([
      400,
      expect.stringContaining('plugin:authorization-endpoint:form_expired'),
    ])
    await signInAs(browser, url({ prompt: 'login' }), 'bob')
    expect((await post(browser, page, { decision: 'accept' }, form)).status).toBe(400)
  })

  test('counts for a decision of the host, whose user has no session', async () => {
    const interaction = { interact: () => ({ subject: alice, scopes: ['openid'], trusted: true as const }) }
    const { url, browser: open, events } = await setUp({ interaction })
    const page = await open().open(url())
    expect(page.html).toContain('Terms 1')
    expect(events.filter(({ type }) => type === 'code_issued')).toEqual([])
  })

  test('counts for a decision that was made while the terms changed', async () => {
    let version = '1'
    const changing: AuthorizationFeature = { ...terms('1'), step: (...facts) => terms(version).step?.(...facts) }
    const { url, browser: open } = await setUp({ features: [changing] })
    const browser = open()
    const consent = await post(browser, await signInAs(browser, url()), { decision: 'accept' })
    version = '2'
    expect((await post(browser, consent, { decision: 'allow' })).html).toContain('Terms 2')
  })
})
