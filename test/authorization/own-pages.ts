import { defineEndpoint, type Reply } from '@grantry/core'
import type {
  AuthorizationEndpointOptions,
  Interaction,
  InteractionPort,
  InteractionServices,
} from '@grantry/plugins/authorization-endpoint'
import type { TestProviderOptions } from '@grantry/testing'
import * as v from 'valibot'
import { type createBrowser, hiddenFields, type Page } from './browser.ts'
import { request, setUp } from './parties.ts'

const page = (name: string, id: string): Reply => ({
  html: `<p>${name}</p><form><input type="hidden" name="interaction" value="${id}"></form>`,
})

async function interact({ request: { prompts, scopes }, session, mustSignIn, progress, suspend }: Interaction) {
  if (session === undefined || mustSignIn) return page('sign-in', (await suspend()).id)
  if (prompts.has('select_account') && progress.chosen !== session.sid) return page('accounts', (await suspend()).id)
  return { scopes, trusted: true } as const
}

const form = v.object({
  interaction: v.string(),
  username: v.optional(v.string()),
  acr: v.optional(v.string()),
  refuse: v.optional(v.literal('access_denied')),
})

/** Believes every user name, and begins a session. */
const signInEndpoint = ({ interactions, sessions }: InteractionServices) =>
  defineEndpoint({
    name: 'testSignIn',
    path: '/test/sign-in',
    methods: ['POST'],
    caller: 'anyone',
    params: form,
    async handle({ params: { interaction: id, username, acr, refuse }, request: http }, kit): Promise<Reply> {
      const interaction = await interactions.find(kit, http, id)
      if (interaction === undefined) throw kit.refuse('invalid_request', 'Unknown', 'unknown')
      if (refuse !== undefined) return interactions.refuse(interaction, refuse)
      const location = interactions.resumeUrl(kit, id)
      if (username === undefined) {
        await interactions.proceed(interaction, { chosen: interaction.session?.sid ?? '' })
        return { location }
      }
      const subject = { sub: username, amr: ['pwd'], ...(acr !== undefined && { acr }) }
      const { session, cookies } = await sessions.start(kit, { subject }, http)
      await interactions.proceed(interaction, { signedIn: session.sid })
      return { location, cookies }
    },
  })

/** A small interaction with pages of its own. Users sign in by their name, and consent to everything. */
export const ownPages: InteractionPort = { interact, parts: (services) => [signInEndpoint(services)] }

type Browser = ReturnType<typeof createBrowser>

/** A provider with `ownPages`, or with a variant of them. */
export async function setUpPages(
  options: Partial<AuthorizationEndpointOptions> = {},
  more: Partial<TestProviderOptions> = {},
  interact: InteractionPort['interact'] = ownPages.interact,
) {
  const f = await setUp({ ...ownPages, interact }, options, more)
  /** Opens a request. */
  const ask = (browser: Browser, parameters: Readonly<Record<string, string>> = {}): Promise<Page> =>
    browser.open(f.urlOf({ ...request, ...parameters }))
  /** Submits the form of a page. */
  const submit = (browser: Browser, of: Page, fields: Readonly<Record<string, string>>): Promise<Page> =>
    browser.submit(`${f.provider.issuer}/test/sign-in`, { ...hiddenFields(of), ...fields })
  /** Signs a user in, and returns the last page: the response to the client. */
  const signIn = async (browser: Browser, username = 'alice', parameters: Readonly<Record<string, string>> = {}) =>
    submit(browser, await ask(browser, parameters), { username })
  return { ...f, ask, submit, signIn }
}

/** The name of a page of `ownPages`. */
export const nameOf = ({ html }: Page): string | undefined => /<p>([\w-]+)<\/p>/u.exec(html)?.[1]
