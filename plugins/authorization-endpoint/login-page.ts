import {
  authorizations,
  type Client,
  configurationObject,
  defineErrorPage,
  defineFields,
  defineHostFunctions,
  definePlugin,
  type EndpointKit,
  hostKey,
  type OptionsOf,
  type Plugin,
  type PluginPart,
  parseConfiguration,
  passwords,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { clientMembers } from '../shared/client-members.ts'
import { createUserAuthorizations, userAuthorizations } from '../shared/user-authorizations.ts'
import { authorizationEndpointEntries, errors, pagesSchema } from './authorization-options.ts'
import { plainPages } from './authorization-pages.ts'
import { type Consents, createConsents, type GivenConsent } from './consents.ts'
import { errorPageWith } from './error-page.ts'
import { authorizationRequests, createAuthorizationRequests } from './host.ts'
import type { CheckedRequest } from './request.ts'

/** The consents of users, for pages of the host. */
export interface UserConsents {
  /**
   * Whether the user need not be asked, as `recallConsent` of an interaction: `respond` of `authorizationRequests` has
   * remembered a consent (`remember: true`).
   */
  suffice(request: CheckedRequest, sub: string): Promise<boolean>
  /** What a user has consented to since the last revocation: for at most 100 clients. */
  list(sub: string): Promise<readonly GivenConsent[]>
  /** Forgets a consent, so that the user is asked again. Revokes no token. Returns whether there was one. */
  revoke(sub: string, clientId: string): Promise<boolean>
  /** Removes what is stored of a user who was removed. */
  forget(sub: string): Promise<void>
}

/**
 * The key of the consents of users.
 *
 * @example
 * const isAsked = !(await provider.use(userConsents).suffice(checked, 'alice'))
 */
export const userConsents = hostKey<UserConsents>('user-consents', 'loginPage() or authorizationEndpoint()')

const createUserConsents = (consents: Consents, kit: EndpointKit): UserConsents => ({
  suffice: (request, sub) => consents.suffice(kit, sub, request),
  list: (sub) => consents.list(kit, sub),
  revoke: (sub, clientId) => consents.revoke(kit, sub, clientId),
  forget: (sub) => consents.forget(kit, sub),
})

/** The functions for pages of the host that receive authorization requests themselves, and the page for unknown paths. */
export const hostParts = (settings: Parameters<typeof createAuthorizationRequests>[1]): readonly PluginPart[] => [
  defineErrorPage(errorPageWith(settings.pages)),
  defineHostFunctions(authorizationRequests, (kit) => createAuthorizationRequests(kit, settings)),
  defineHostFunctions(userAuthorizations, createUserAuthorizations),
  defineHostFunctions(userConsents, (kit) => createUserConsents(settings.consents, kit)),
]

const optionsSchema = configurationObject({
  /** Seconds for which a consent is remembered. Default: a year. */
  consentLifetime: authorizationEndpointEntries.consentLifetime,
  /** The pages for refusals and `form_post`. Default: plain pages in English. */
  pages: pagesSchema,
  /**
   * Whether all clients are applications of your own. Their refusals redirect before the user has signed in; others show
   * a page with a link first (RFC 9700 section 4.11.2), unless the client has `requireConsent: false`. Default: `false`.
   */
  trusted: v.optional(v.boolean('must be true or false'), false),
})

export type LoginPageOptions = OptionsOf<typeof optionsSchema>

/** Whether the client must push its requests, by a member that another plugin has added. */
const mustPush = ({ requirePushedAuthorizationRequests }: Client): boolean =>
  requirePushedAuthorizationRequests === true

/**
 * For hosts whose login page keeps everything to itself: no endpoint, no session, no cookie.
 * `provider.use(authorizationRequests)` checks the requests that the page receives, and sends codes to clients. Its records
 * are those of `authorizationEndpoint()`, which a host can install instead.
 *
 * @throws TypeError when an option is malformed.
 */
export function loginPage(input: LoginPageOptions = {}): Plugin {
  const { consentLifetime, pages = plainPages, trusted } = parseConfiguration(optionsSchema, input, 'loginPage()')
  return definePlugin('authorization-endpoint', [
    authorizations,
    passwords,
    sealing,
    defineFields({ errors, client: clientMembers }),
    ...hostParts({ pages, trusted, mustPush, consents: createConsents(consentLifetime) }),
  ])
}
