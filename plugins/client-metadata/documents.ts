import { type ClientOptions, type JsonObject, type Kit, parseUrl, type UnknownCaller } from '@grantry/core'
import { createPolicyOf } from '../shared/host-policy.ts'
import type { HostPolicy, Settings } from './client-metadata-options.ts'
import { clientIn } from './document.ts'
import { copyKey, copySchema, createFetchTogether, failureLifetime, keepCopy } from './fetch-together.ts'
import { type Failure, type Outcome, refused } from './fetched-document.ts'
import { createRemembered } from './remembered.ts'

/** Finds the clients whose ids are URLs of documents. */
export interface Documents {
  /** @throws OAuthError if the document describes no client, or cannot be fetched at this time. */
  find(url: string, kit: Kit, caller: UnknownCaller | undefined): Promise<ClientOptions> | ClientOptions
  /** Prolongs the copy of a client that gets a token to a day: its tokens need the client while its host is down. */
  use(url: string, kit: Kit): Promise<void>
}

/** Seconds for which a process remembers that it has prolonged a copy. */
const rememberUse = 3600

/** The maximum number of clients whose prolonged copies a process remembers. */
const maxUsed = 1000

/** @throws OAuthError */
function clientOf(outcome: Outcome, kit: Kit): ClientOptions {
  if ('client' in outcome) return outcome.client
  const { reason, text, isTemporary } = outcome
  const description = `The client metadata document cannot be used: ${text}`
  throw isTemporary
    ? kit.refuse('temporarily_unavailable', description, reason, { retryAfter: failureLifetime })
    : kit.refuse('invalid_client', description, reason)
}

/** Returns why an id is no URL of a document. @see draft-ietf-oauth-client-id-metadata-document section 3 */
function urlProblem(url: string): Failure | undefined {
  const parsed = parseUrl(url)
  // The parser removes dot segments, the default port, and capitals of the host.
  if (parsed?.href !== url) return refused('url_malformed', 'the client_id is not a URL in its parsed form')
  const { pathname, hash, username, password } = parsed
  if (hash !== '' || username !== '' || password !== '') {
    return refused('url_malformed', 'the client_id must not contain a fragment or a user')
  }
  return pathname === '/' ? refused('url_malformed', 'the client_id must have a path') : undefined
}

export function createDocuments(settings: Settings): Documents {
  const policyOf = createPolicyOf(settings.hosts, settings.otherHosts)
  const remembered = createRemembered()
  /** Stale copies, for clients of stored grants only. */
  const stale = createRemembered()
  const fetchTogether = createFetchTogether(settings, remembered)

  /** Until when a process need not prolong the copy of a URL again. */
  const used = new Map<string, number>()

  const isUsed = (url: string, now: number): boolean => (used.get(url) ?? 0) > now

  function noteUse(url: string, until: number): void {
    used.delete(url)
    used.set(url, until)
    const [oldest] = used.keys()
    if (used.size > maxUsed && oldest !== undefined) used.delete(oldest)
  }

  const outcomeIn =
    (url: string, policy: Exclude<HostPolicy, 'refuse'>, kit: Kit) =>
    (document: JsonObject): Outcome =>
      clientIn(document, url, policy, settings, kit)

  async function look(
    url: string,
    policy: Exclude<HostPolicy, 'refuse'>,
    kit: Kit,
    caller: UnknownCaller | undefined,
  ): Promise<Outcome> {
    const now = kit.now()
    const outcomeOf = outcomeIn(url, policy, kit)
    const keptCopy = await kit.records.get(copyKey(url), copySchema)
    const copy = keptCopy && outcomeOf(keptCopy.document)
    // Without a caller, the client is that of a stored grant or token, which was checked when it was issued.
    const isUsable = keptCopy !== undefined && (keptCopy.freshUntil > now || caller === undefined)
    if (copy === undefined || !isUsable) {
      return fetchTogether({ url, outcomeOf, copy, used: keptCopy?.used === true || isUsed(url, now), kit, caller })
    }
    if (keptCopy.freshUntil > now) remembered.set(url, copy, keptCopy.freshUntil)
    else stale.set(url, copy, now + failureLifetime)
    return copy
  }

  return {
    async use(url, kit) {
      const now = kit.now()
      if (isUsed(url, now)) return
      const policy = policyOf(parseUrl(url)?.hostname ?? '')
      if (policy === 'refuse') return
      const copy = await kit.records.get(copyKey(url), copySchema)
      // There may be no copy because strangers had used up their share. Then the next document is kept for a day.
      if (copy === undefined) return noteUse(url, now + rememberUse)
      const outcome = outcomeIn(url, policy, kit)(copy.document)
      if (copy.used !== true && 'client' in outcome) await keepCopy(url, { ...copy, used: true }, outcome.client, kit)
      noteUse(url, now + rememberUse)
    },
    find(url, kit, caller) {
      const now = kit.now()
      const known = remembered.get(url, now) ?? (caller === undefined ? stale.get(url, now) : undefined)
      if (known !== undefined) return clientOf(known, kit)
      const malformed = urlProblem(url)
      if (malformed !== undefined) return clientOf(malformed, kit)
      const policy = policyOf(parseUrl(url)?.hostname ?? '')
      if (policy === 'refuse') return clientOf(refused('host_refused', 'clients of this host are not accepted'), kit)
      return look(url, policy, kit, caller).then((outcome) => clientOf(outcome, kit))
    },
  }
}
