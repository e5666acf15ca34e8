import type { EndpointKit, EndpointRequest, PluginPart, Reply, Subject } from '@grantry/core'
import type {
  Interaction,
  Interactions,
  Sessions,
  SignedInUser,
  Standing,
  SuspendedInteraction,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { SignInProblem, SignInWay } from './sign-in-pages.ts'

/** A user who has signed in by another way. */
export interface WayUser extends Pick<SignedInUser, 'subject' | 'provesTime'> {
  /** How the user is shown to the user. */
  readonly name: string
  /**
   * The standing of the user at the authentication, if that was earlier. A session with an outdated standing is never
   * valid.
   */
  readonly standing?: Standing | undefined
  /**
   * Whether the record that has identified the user, such as a link, still exists. Called after the standing of the
   * user was read, so that a record that ends in between gives no session. Default: yes.
   */
  readonly confirm?: (() => Promise<boolean>) | undefined
  /**
   * The step that `proved` of the way performs before the session begins: after the second factor, if there is one. The
   * form for the factor contains it, encrypted.
   */
  readonly pending?: PendingStep | undefined
}

/** A step that a way to sign in performs after the user has proved all required factors. */
export interface PendingStep {
  /** The `name` of the way. */
  readonly way: string
  readonly data: string
}

/** What the endpoints of other ways to sign in can use. */
export interface SignInTools {
  readonly interactions: Interactions
  readonly sessions: Sessions
  /** Begins a session of a user who has just signed in, and continues. A user with a second factor proves it first. */
  signIn(user: WayUser, interaction: SuspendedInteraction): Promise<Reply>
  /** Whether `signIn` asks the user for a second factor first. */
  hasSecondFactor(sub: string, kit: EndpointKit): Promise<boolean>
  /** Returns the link that the domain of a mail address leads to: its users have no password, and get no mail here. */
  byAddress(address: string, interaction: SuspendedInteraction): SignInWay | undefined
  /** Whether the domain of a mail address leads elsewhere, for some client. */
  isElsewhere(address: string): boolean
  /**
   * Shows the page of the sign-in, with what went wrong.
   *
   * @param provider the name of the provider, as users know it, for problems of a sign-in there
   */
  show(interaction: SuspendedInteraction, problem?: SignInProblem, provider?: string): Promise<Reply>
  /** The page for a request that is unknown, has expired, or belongs to another browser. */
  expired(http: EndpointRequest, kit: EndpointKit): Promise<Reply>
  /** The page for the errors of an endpoint. */
  readonly presentError: (
    error: ReturnType<EndpointKit['refuse']>,
    http: EndpointRequest,
    kit: EndpointKit,
  ) => Promise<Reply>
}

/**
 * A session, and the request that it is for. For a page that gives a client access, the request has the client only.
 */
export interface JudgedSession extends Pick<Interaction, 'progress'> {
  readonly request: Pick<Interaction['request'], 'client' | 'acrValues'>
  readonly session: { readonly subject: Subject; readonly sid?: string | undefined } | undefined
}

/** Ways to sign in besides the form with the password. */
export interface SignInWays {
  /** The name for `pending` of its users. */
  readonly name?: string | undefined
  /**
   * Performs the pending step of a user who has proved all required factors. Returns the standing with which the
   * session begins; `undefined` if the step was not possible, or the user was revoked meanwhile; `refused` is a page
   * with the reason.
   *
   * @param standing the standing of the user when the user was found
   * @param sessions those of the provider that the request is for: several providers can share a way
   */
  readonly proved?:
    | ((
        data: string,
        standing: Standing,
        interaction: SuspendedInteraction,
        sessions: Sessions,
      ) => Promise<Standing | { readonly refused: Reply } | undefined>)
    | undefined
  /** Returns the links that the page shows. */
  links(interaction: SuspendedInteraction): readonly SignInWay[]
  /** Returns the link that the request asks for: the browser follows it without a page in between. */
  readonly chosen?: ((interaction: SuspendedInteraction) => SignInWay | undefined) | undefined
  /**
   * Returns a function from a mail address to the link that its domain leads to; `undefined` if the request has no such links.
   * It must not depend on the part before the domain: that would tell strangers who is a user.
   */
  readonly forAddress?:
    | ((interaction: SuspendedInteraction) => ((address: string) => SignInWay | undefined) | undefined)
    | undefined
  /** Whether the domain of an address leads elsewhere, for some client: no invitation creates an account for it. Default: no. */
  readonly ownsAddress?: ((address: string) => boolean) | undefined
  /** Whether the page asks for an address, for `forAddress`. Default: if `forAddress` returns a function. */
  readonly asksForAddress?: ((interaction: SuspendedInteraction) => boolean) | undefined
  /** Whether the session suffices for the request, which can name a way. Default: `true`. */
  readonly suffices?: ((judged: JudgedSession) => boolean) | undefined
  /** Whether users who have an account can sign in by it. Default: `true`. */
  readonly signsIn?: boolean | undefined
  /** Whether users can create accounts by it, so that requests can have `prompt=create`. Default: `false`. */
  readonly createsAccounts?: boolean | undefined
  /** Returns the present name of a user whose passkey was stored with an earlier one; `undefined` if it does not know the user. */
  readonly nameOf?: ((sub: string, kit: EndpointKit) => Promise<string | undefined>) | undefined
  /** Called before a session of a user begins, for all ways to sign in. */
  readonly signedIn?: ((sub: string, interaction: SuspendedInteraction) => Promise<void>) | undefined
  parts(tools: SignInTools): readonly PluginPart[]
}

/** The ways to sign in that the page offers. */
export interface OfferedWays {
  readonly ways: readonly SignInWays[]
  /** Whether users sign in with a password here. */
  readonly passwords: boolean
  readonly passkeys?: unknown
}

export const linksFor = (interaction: SuspendedInteraction, { ways }: OfferedWays): readonly SignInWay[] =>
  ways.flatMap((way) => way.links(interaction))

/** Returns a function from a mail address to the link that its domain leads to, if any domain does. */
export function linkByAddress(interaction: SuspendedInteraction, { ways }: OfferedWays) {
  const finders = ways.flatMap((way) => way.forAddress?.(interaction) ?? [])
  if (finders.length === 0) return undefined
  return (address: string): SignInWay | undefined =>
    finders.map((find) => find(address)).find((way) => way !== undefined)
}

/** Whether the page has a button for users who enter an address instead of a name. */
export const asksForAddress = (interaction: SuspendedInteraction, { ways }: OfferedWays): boolean =>
  ways.some((way) => way.asksForAddress?.(interaction) ?? way.forAddress?.(interaction) !== undefined)

/** Returns the link that the browser follows without a page: one that the request asks for, or the only way. */
export function wayWithoutPage(interaction: SuspendedInteraction, offered: OfferedWays): SignInWay | undefined {
  for (const offering of offered.ways) {
    const way = offering.chosen?.(interaction)
    if (way !== undefined) return way
  }
  const [only, ...more] = linksFor(interaction, offered)
  const isOnly = !offered.passwords && offered.passkeys === undefined && more.length === 0
  return isOnly && only?.kind === 'provider' ? only : undefined
}
