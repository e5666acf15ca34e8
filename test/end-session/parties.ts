import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import type { AuthorizationFeature } from '@grantry/plugins/authorization-endpoint'
import { endSession } from '@grantry/plugins/end-session'
import type { TestProviderOptions } from '@grantry/testing'
import type { ProviderLogout } from '../../plugins/shared/provider-logout.ts'
import { answer, type createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { setUpPages } from '../authorization/own-pages.ts'
import { clients as others } from '../authorization/parties.ts'

export type Browser = ReturnType<typeof createBrowser>
export type Parameters = Readonly<Record<string, string>>

export const bye = 'https://client.example.com/bye'
/** As the conformance suite sends it: 90 characters, with punctuation. */
export const state = `${'a1'.repeat(30)}&=#%"<>\\'{}|^\`~!@$*()_[]:,./?-`

/** Registered, but too long for a redirect when it is encoded. */
export const longUri = `https://client.example.com/${'ü'.repeat(1900)}`

const logoutUris: Readonly<Record<string, readonly string[]>> = {
  web: [bye, `${bye}?tenant=1`, 'https://bücher.example/tschüß', 'http://127.0.0.1:5000/bye', longUri],
  spa: ['com.example.app:/bye'],
}
export const clients: readonly ClientOptions[] = others.map((client) => ({
  ...client,
  ...(client.clientId === 'web' && { clientName: 'The web shop', clientUri: 'https://client.example.com/' }),
  postLogoutRedirectUris: [...(logoutUris[client.clientId] ?? [])],
}))

/** A provider with users who sign in by their name, and a logout. */
export async function setUpLogout(
  more: Partial<TestProviderOptions> = {},
  features: readonly AuthorizationFeature[] = [],
  providers?: ProviderLogout,
) {
  const pages = createPages({ languages })
  const logout = endSession({ pages, ...(providers && { providers }) })
  const f = await setUpPages({ features: [logout, ...features], pages }, { clients, ...more })
  const { issuer } = f.provider
  const urlOf = (parameters: Parameters = {}) => `${issuer}/connect/endsession?${new URLSearchParams(parameters)}`
  return {
    ...f,
    logoutUrl: urlOf,
    /** Signs a user in. Returns the browser and the identity token of the client. */
    async signedIn(username = 'alice', browser: Browser = f.browser()) {
      const { code } = answer(await f.signIn(browser, username))
      const { id_token: hint } = (await f.redeem(code)).body
      return { browser, hint: String(hint) }
    },
    logout: (browser: Browser, parameters: Parameters = {}): Promise<Page> => browser.open(urlOf(parameters)),
    logoutByPost: (browser: Browser, parameters: Parameters): Promise<Page> =>
      browser.submit(`${issuer}/connect/endsession`, parameters),
    /** Presses a button of the page that asks. */
    decide: (browser: Browser, of: Page, decision: string): Promise<Page> =>
      browser.submit(`${issuer}/connect/endsession/confirm`, { ...hiddenFields(of), decision }),
    /** Whether the browser still has a session. */
    async isSignedIn(browser: Browser): Promise<boolean> {
      const response = answer(await f.ask(browser, { prompt: 'none' }))
      if (response.code === undefined && response.error !== 'login_required') throw new Error(response.error)
      return response.code !== undefined
    },
  }
}

/** What a page shows, by its elements. */
export function kindOf({ html, headers }: Page): string {
  if (headers.get('location') !== null) return 'redirect'
  const ids = { 'signed-out': 'signed out', 'still-signed-in': 'stay', logout: 'question', error: 'error' }
  return Object.entries(ids).find(([id]) => html.includes(`id="${id}"`))?.[1] ?? 'unknown'
}

export const reasonOf = ({ html }: Page): string | undefined =>
  /<code id="reason">plugin:authorization-endpoint:([^<]*)</u.exec(html)?.[1]
