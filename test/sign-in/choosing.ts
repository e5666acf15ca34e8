import type { ClientOptions, ScopeOptions } from '@grantry/core'
import { createPages, type PagesOptions } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { signIn } from '@grantry/plugins/sign-in'
import { sha256Of, type TestProviderOptions } from '@grantry/testing'
import type { Page } from '../authorization/browser.ts'
import { clients } from '../authorization/parties.ts'
import { setUpSignIn } from './parties.ts'

export const files = 'https://files.example.com/mcp'
export const mail = 'https://mail.example.com/mcp'

export const apiScopes: readonly ScopeOptions[] = [
  { name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }], unrestrictedIntrospection: true },
  { name: 'read', audience: [files, mail] },
  { name: 'files:write', audience: files },
  { name: 'mail:send', audience: mail },
]

/** The fields of ticked checkboxes. */
export const yes = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [`scope:${name}`, 'yes']))

/** The checkboxes of a page, and whether they are ticked. */
export const boxesOf = ({ html }: Page) =>
  Object.fromEntries(
    [...html.matchAll(/<input id="[^"]+" name="scope:([^"]+)" type="checkbox" value="yes"( checked)?>/gu)].map(
      ([, name, checked]) => [name, checked !== undefined],
    ),
  )

/** A provider with the client `web`, whose users choose scopes. */
export async function choiceProvider(
  change: Partial<ClientOptions> = {},
  appearance: PagesOptions = {},
  more: Partial<TestProviderOptions> = {},
) {
  const pages = createPages(appearance)
  const scopes = ['openid', 'profile', 'api1', 'offline_access', 'read', 'files:write', 'mail:send']
  let current: ClientOptions = { ...clients[0], clientId: 'web', scopeChoice: true, scopes, ...change }
  const interaction = signIn({ pages })
  const plugins = [
    authorizationCode(),
    proofKey(),
    refreshToken(),
    resourceIndicators(),
    authorizationEndpoint({ interaction, pages, features: [pushedAuthorization()] }),
  ]
  const find = (id: string) => (id === 'web' ? current : undefined)
  const f = await setUpSignIn({}, { plugins, scopes: apiScopes, clients: { find }, ...more })
  return {
    ...f,
    change: (next: Partial<ClientOptions>) => {
      current = { ...current, ...next }
    },
  }
}

/** The same, with alice in front of its page. */
export async function setUpChoice(
  scope: string,
  parameters: Readonly<Record<string, string>> = {},
  change: Partial<ClientOptions> = {},
  appearance: PagesOptions = {},
) {
  const f = await choiceProvider(change, appearance)
  const started = await f.start({ scope, ...parameters })
  const page = await started.enter('alice')
  return {
    ...f,
    ...started,
    page,
    allow: (chosen: Readonly<Record<string, string>>, of: Page = page) =>
      started.submit('consent', { decision: 'allow', ...chosen }, of),
    again: async (more: Readonly<Record<string, string>> = {}) =>
      (await f.start({ scope, ...parameters, ...more }, started.browser)).page,
  }
}
