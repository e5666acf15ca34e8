import {
  defineEndpoint,
  defineFields,
  defineHostFunctions,
  domainOf,
  type EndpointKit,
  type EndpointRequest,
  foldedDomain,
  parseConfiguration,
  type Reply,
  type Rule,
} from '@grantry/core'
import * as v from 'valibot'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { LinkedProviders, NewLink, ProviderLinks } from '../shared/linked-providers.ts'
import type { ProviderLogout } from '../shared/provider-logout.ts'
import type { SignInTools, SignInWay, SignInWays } from '../sign-in/sign-in.ts'
import { beginSignIn } from './begin.ts'
import { formReply, handleCallback, showFailure } from './callback.ts'
import { isFailure } from './failure.ts'
import { upstreamTokens } from './kept-tokens.ts'
import { logoutUrlOf } from './leave.ts'
import { createLinkedProviders } from './linking.ts'
import { createUpstreamUsers, upstreamUsers } from './profile.ts'
import { handleLogout } from './upstream-logout.ts'
import { type Provider, type Settings, type UpstreamOptions, upstreamSchema } from './upstream-options.ts'
import { createUpstreams, type Upstream } from './upstreams.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    upstream: true
  }
}

export type { SendRequest } from '../shared/fetched-uri.ts'
export type {
  Link,
  LinkableProvider,
  LinkedProviders,
  LinkingSession,
  NewLink,
  ProviderLinks,
} from '../shared/linked-providers.ts'
export type { ProviderLogout } from '../shared/provider-logout.ts'
export { type CombinedUsers, combinedUsers, type UserSource } from './combined-users.ts'
export { type KeptTokens, type UpstreamAccess, upstreamTokens } from './kept-tokens.ts'
export { type AppleOptions, apple } from './presets/apple.ts'
export { type GithubOptions, github } from './presets/github.ts'
export { type GitlabOptions, gitlab } from './presets/gitlab.ts'
export { type GoogleOptions, google } from './presets/google.ts'
export { type GrantryOptions, grantry } from './presets/grantry.ts'
export { type KeycloakOptions, keycloak } from './presets/keycloak.ts'
export { type MicrosoftOptions, microsoft } from './presets/microsoft.ts'
export { type ConfiguredProvider, configuredProviderSchema, configuredProviderSchemas, providerOf } from './presets.ts'
export { type UpstreamUser, type UpstreamUsers, upstreamUsers } from './profile.ts'
export type { ProviderAdapter, UpstreamClaims } from './provider.ts'
export type { UpstreamOptions, UpstreamProvider, UpstreamSubject } from './upstream-options.ts'

type Request = SuspendedInteraction['request']

/** Whether the client may use a provider. Without a list, it may use any. */
const mayUse = ({ client: { identityProviders } }: Pick<Request, 'client'>, { name }: Provider): boolean =>
  identityProviders.length === 0 || identityProviders.includes(name)

/** The name in `acr_values=idp:NAME`, section 2.1 of the seed. */
const namedIn = ({ acrValues }: Pick<Request, 'acrValues'>): string | undefined =>
  acrValues.find((value) => value.startsWith('idp:'))?.slice('idp:'.length)

/** Finds each provider that cannot know which client redeems a code. */
const secretRule = ({ providers }: Settings): Rule => ({
  id: 'upstream-secret-missing',
  severity: 'warning',
  remedy: 'set one of them',
  source: 'RFC 9700 section 2.5',
  // At the start only: `grantry check` has a rule that names the place in the configuration.
  at: 'start',
  check: () =>
    providers
      .filter(
        ({ clientSecret, privateKey, adapter }) => (clientSecret ?? privateKey ?? adapter?.authenticate) === undefined,
      )
      .map(({ name }) => ({
        where: `the provider ${name}`,
        reason: `The provider ${name} has no clientSecret and no privateKey, so it cannot know that this server redeems the code`,
      })),
})

/** Sends the browser of an interaction to a provider. */
async function begin(
  id: string | undefined,
  http: EndpointRequest,
  kit: EndpointKit,
  { connection }: Upstream,
  tools: SignInTools,
): Promise<Reply> {
  const { provider } = connection
  const interaction = await tools.interactions.find(kit, http, id ?? '')
  if (interaction === undefined) return tools.expired(http, kit)
  if (!mayUse(interaction.request, provider)) {
    throw kit.refuse('invalid_request', 'The application may not use this provider', 'provider_not_allowed')
  }
  const begun = await beginSignIn(connection, interaction)
  return isFailure(begun) ? showFailure(begun, interaction, provider, tools) : begun
}

/** The ways to sign in at other providers. */
export interface UpstreamWays extends SignInWays, ProviderLinks, ProviderLogout {
  /**
   * Returns the functions with which an account page links accounts at providers.
   *
   * @param kit that of a feature or the interaction of the authorization endpoint
   */
  linked(kit: EndpointKit): LinkedProviders
}

/**
 * Whether a mail address is in one of the domains of a provider. Compares in capitals: a user service that maps names
 * to one case treats `ß`, its capital and `ss`, or both small sigmas, as equal, and would check a password.
 */
function isAt(mail: string | undefined, { domains }: Provider): boolean {
  const domain = mail === undefined ? undefined : domainOf(mail)?.toUpperCase()
  return domain !== undefined && domains.some((candidate) => foldedDomain(candidate).toUpperCase() === domain)
}

/** Creates the functions that send the users of a domain to its provider. */
const domainWays = (
  { providers }: Pick<Settings, 'providers'>,
  usable: (interaction: SuspendedInteraction) => readonly Provider[],
  wayTo: (provider: Provider, interaction: SuspendedInteraction) => SignInWay,
): Pick<SignInWays, 'asksForAddress' | 'forAddress' | 'ownsAddress'> => ({
  ownsAddress: (address) => providers.some((provider) => isAt(address, provider)),
  asksForAddress: (interaction) => usable(interaction).some(({ domains }) => domains.length > 0),
  forAddress(interaction) {
    // Includes providers that the client may not use, which are then refused: a password here must not replace them for
    // the users of the domain.
    const ofDomains = providers.filter(({ domains }) => domains.length > 0)
    if (ofDomains.length === 0) return undefined
    return (address) => {
      const provider = ofDomains.find((candidate) => isAt(address, candidate))
      return provider && wayTo(provider, interaction)
    }
  },
})

/** Creates the functions with which an account page and the host manage links and their users. */
function linkingOf({ upstreams, keeper }: ReturnType<typeof createUpstreams>) {
  const linked = (kit: EndpointKit) => createLinkedProviders(upstreams, keeper, kit)
  const usersOf = (kit: EndpointKit) => ({ ...createUpstreamUsers(kit, keeper), forget: linked(kit).forget })
  return { linked, usersOf }
}

/**
 * Lets users sign in at other providers: those of their company, or public ones. For `signIn({ ways })`.
 *
 * Register `ISSUER/connect/upstream/NAME/callback` at each provider, as the redirect URI.
 *
 * @throws TypeError when an option is malformed.
 * @see OpenID Connect Core section 3.1; RFC 9700
 */
export function upstream(input: UpstreamOptions): UpstreamWays {
  const settings = parseConfiguration(upstreamSchema, input, 'upstream()')
  const listeners = new Set<(link: NewLink) => Promise<void>>()
  const { upstreams, keeper } = createUpstreams(settings, listeners)
  const keepsTokens = settings.providers.some((provider) => provider.keepTokens)

  const { linked, usersOf } = linkingOf({ upstreams, keeper })
  const wayTo = ({ name, displayName = name }: Provider, { kit, id }: SuspendedInteraction): SignInWay => ({
    kind: 'provider',
    name: displayName,
    url: `${kit.endpointUrl('upstream')}/${name}?${new URLSearchParams({ interaction: id })}`,
  })
  const usable = ({ request }: { readonly request: Pick<Request, 'client'> }) =>
    settings.providers.filter((provider) => mayUse(request, provider))

  return {
    links: (interaction) => usable(interaction).map((provider) => wayTo(provider, interaction)),
    chosen(interaction) {
      const named = namedIn(interaction.request)
      const provider = usable(interaction).find((candidate) =>
        named === undefined ? isAt(interaction.request.loginHint, candidate) : candidate.name === named,
      )
      return provider && wayTo(provider, interaction)
    },
    ...domainWays(settings, usable, wayTo),
    suffices({ request, session, progress }) {
      const idp = session?.subject.idp
      const from = settings.providers.find(({ name }) => name === idp)
      if (from !== undefined && !mayUse(request, from)) return false
      const named = namedIn(request)
      const isNamed = usable({ request }).some(({ name }) => name === named)
      // A user who has chosen another way on the page is not sent back.
      return !isNamed || idp === named || progress.signedIn === session?.sid
    },
    linked,
    async logoutUrl(idp, back, kit) {
      const from = upstreams.get(idp)
      return from && logoutUrlOf(from, back, kit)
    },
    onLinked(listener) {
      listeners.add(listener)
    },
    parts: (tools) => [
      defineFields({ rules: [secretRule(settings)] }),
      defineHostFunctions(upstreamUsers, usersOf),
      ...(keepsTokens ? [defineHostFunctions(upstreamTokens, keeper.functions)] : []),
      defineEndpoint({
        name: 'upstream',
        path: '/connect/upstream',
        subpaths: true,
        methods: ['GET', 'POST'],
        effects: true,
        caller: 'anyone',
        params: v.record(v.string(), v.string()),
        async handle({ params, request }, kit) {
          const [name = '', action, ...more] = request.segments
          const provider = upstreams.get(name)
          // A URL with a logout token gets into logs.
          const isLogout = action === 'logout' && request.method === 'POST'
          const isKnown = more.length === 0 && (action === undefined || action === 'callback' || isLogout)
          if (provider === undefined || !isKnown) {
            throw kit.refuse('invalid_request', 'There is no such page', 'provider_unknown', { status: 404 })
          }
          if (action === undefined) return begin(params.interaction, request, kit, provider, tools)
          if (isLogout) return handleLogout(params, kit, provider, tools)
          if (request.method === 'POST') return formReply(params, provider, kit)
          return handleCallback(params, request, kit, provider, { tools, settings })
        },
        presentError: tools.presentError,
      }),
    ],
  }
}
