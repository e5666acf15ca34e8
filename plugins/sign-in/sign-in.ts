import {
  configurationObject,
  defineFields,
  type OptionsOf,
  type PluginPart,
  parseConfiguration,
  type Reply,
} from '@grantry/core'
import * as v from 'valibot'
import type {
  Interaction,
  InteractionPort,
  RefusedInteraction,
  UnaskedDecision,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { portSchema } from '../shared/config-schema.ts'
import { factorEntries } from '../shared/factor-entries.ts'
import { passkeyDomain } from '../shared/passkey-domain.ts'
import { formEndpoints } from './forms.ts'
import { resetParts } from './reset-second-factors.ts'
import type { SignInPages } from './sign-in-pages.ts'
import { accountPage, consentPage, type SignInPageServices, signInPage } from './views.ts'
import { wayParts } from './way-tools.ts'
import { type SignInWays, wayWithoutPage } from './ways.ts'

/** Shows the next page of a sign-in, or decides. */
export async function interact(
  interaction: Interaction,
  services: SignInPageServices,
): Promise<UnaskedDecision | RefusedInteraction | Reply> {
  const { pages } = services
  const { request, session, mustSignIn, progress } = interaction
  const isSilent = request.prompts.has('none')
  const suspended = async () => ({ ...interaction, ...(await interaction.suspend()) })
  const isElsewhere = session !== undefined && services.ways.some((way) => way.suffices?.(interaction) === false)
  if (isElsewhere && isSilent) return { refuse: 'login_required' }
  if (session === undefined || mustSignIn || isElsewhere) {
    const waiting = await suspended()
    // A user who has signed in, but does not meet the request, sees the page: the same way again would be a loop.
    const way = progress.signedIn === undefined ? wayWithoutPage(waiting, services) : undefined
    return way === undefined ? signInPage(waiting, services) : { location: way.url }
  }
  const { sid, subject, name = subject.sub } = session
  if (request.prompts.has('select_account') && progress.chosen !== sid) {
    return accountPage(await suspended(), { id: sid, name }, pages)
  }
  const consented = await interaction.recallConsent()
  if (consented !== undefined) return consented
  return isSilent ? { refuse: 'consent_required' } : consentPage(await suspended(), pages)
}

export type { RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'
export type { PasskeyCheck, PasskeyResponse, PasskeyUser } from '../shared/passkey-check.ts'
export type { SecondFactor } from '../shared/second-factor.ts'
export { type SecondFactors, secondFactors } from './reset-second-factors.ts'
export type {
  ChooseAccountView,
  ClientView,
  ConsentView,
  FormView,
  SecondFactorView,
  SignInPages,
  SignInProblem,
  SignInView,
  SignInWay,
} from './sign-in-pages.ts'
export type { JudgedSession, PendingStep, SignInTools, SignInWays, WayUser } from './ways.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    signIn: true
    secondFactor: true
    consent: true
    accountChoice: true
  }
}

/** The options that are data. */
export const signInEntries = {
  /** The `acr` of a sign-in by password, unless `users.authenticate` returns one. */
  acr: v.optional(v.string('must be a string')),
}

export const signInSchema = configurationObject({
  ...signInEntries,
  /** The `acr` of a sign-in with a second factor. Default: that of a sign-in by password. */
  secondFactorAcr: v.optional(v.string('must be a string')),
  ...factorEntries,
  /** Further ways to sign in. */
  ways: v.optional(v.array(portSchema<SignInWays>('a way to sign in', { links: true, parts: true })), []),
  /** Whether users sign in with a password. Default: `true`. */
  passwords: v.optional(v.boolean('must be true or false'), true),
  /** The pages, such as those of `createPages()`. */
  pages: portSchema<SignInPages>('the pages of createPages()', {
    localeOf: true,
    signIn: true,
    secondFactor: true,
    consent: true,
    chooseAccount: true,
    error: true,
  }),
})

export type SignInOptions = OptionsOf<typeof signInSchema>

const passwordGrantWarning = defineFields({
  rules: [
    {
      id: 'password-without-second-factor',
      severity: 'warning',
      remedy:
        'remove password(), or refuse users who have set up a factor in users.authenticate, for clients with this grant type',
      source: 'RFC 9700 section 2.4',
      // At the start only: the ready server always has the grant, so `grantry check` has a rule of its own, about
      // clients that can use it.
      at: 'start',
      check: ({ grantTypes }) =>
        grantTypes.includes('password')
          ? [
              {
                where: 'plugins',
                reason:
                  'The password grant asks for no second factor, so a stolen password is enough for the clients that use it',
              },
            ]
          : [],
    },
  ],
})

type Ways = Pick<v.InferOutput<typeof signInSchema>, 'passwords' | 'passkeys' | 'ways'>

const needsPasskeys = ({ passwords, ways }: Ways): boolean => !passwords && ways.every(({ signsIn = true }) => !signsIn)

/** @throws TypeError when users could not sign in: the page would be empty. */
function assertWay(options: Ways): void {
  if (!needsPasskeys(options) || options.passkeys !== undefined) return
  throw new TypeError('signIn(): with passwords: false, users need another way to sign in; add passkeys, or ways')
}

/** Without another way, the page would be empty at an issuer where browsers have no passkeys. */
const passkeysOnly = (options: Ways): readonly PluginPart[] =>
  needsPasskeys(options)
    ? [
        defineFields({
          checkIssuer: (issuer) =>
            passkeyDomain(options.passkeys?.rpId, issuer) === undefined
              ? 'the issuer has an IP address, at which browsers have no passkeys, and signIn() has no other way to sign in; use a domain'
              : undefined,
        }),
      ]
    : []

/**
 * An interaction with pages: users sign in with a user name and password, and consent. Pass it to
 * `authorizationEndpoint()`.
 *
 * @throws TypeError when an option is malformed.
 */
export function signIn(input: SignInOptions): InteractionPort {
  const { pages, ...factors } = parseConfiguration(signInSchema, input, 'signIn()')
  assertWay(factors)
  return {
    limitsHostCalls: true,
    accepts: { passkeys: factors.passkeys, secondFactors: factors.secondFactors, ways: factors.ways },
    createsAccounts: factors.ways.some((way) => way.createsAccounts === true),
    interact: (interaction) => interact(interaction, { pages, ...factors }),
    suffices: (session, client) =>
      factors.ways.every(
        (way) => way.suffices?.({ request: { client, acrValues: [] }, session, progress: {} }) !== false,
      ),
    parts: (services) => [
      ...(factors.secondFactors.length > 0 ? [passwordGrantWarning] : []),
      ...resetParts(factors),
      ...passkeysOnly(factors),
      ...formEndpoints({ ...services, pages, ...factors }),
      ...wayParts({ ...services, pages, ...factors }),
    ],
  }
}
