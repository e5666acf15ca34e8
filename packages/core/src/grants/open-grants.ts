import type { AbuseControl } from '../abuse/abuse-control.ts'
import type { Credentials } from '../credentials/open-credentials.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import type { UserService } from '../directory/user-service.ts'
import type { Recorder } from '../events/recorder.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { missing } from '../parts/capability.ts'
import type { Registry } from '../parts/registry.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Jwt } from '../tokens/jwt.ts'
import type { Tokens } from '../tokens/open-tokens.ts'
import { createRequestMarks } from '../tokens/revocation-mark.ts'
import type { Authorizations, OpenAuthorizations } from './authorizations.ts'
import { type Commit, createCommit } from './commit.ts'
import type { SettleDemands } from './contributions.ts'
import { createEndpointKits, type EndpointKitOf } from './endpoint-kit.ts'
import type { GrantChecks } from './grant-check-kind.ts'
import { createMint, type Mint } from './mint.ts'
import type { MintAssertion, OpenAssertions } from './mint-assertion.ts'
import type { PluginKits } from './plugin-kit.ts'
import { type CreateGrantKit, createGrantKits } from './request-kit.ts'
import type { ScopeRules } from './scope-rules.ts'

/** Everything between a grant and the tokens that it issues. */
export interface Grants {
  readonly createKit: CreateGrantKit
  readonly endpointKitOf: EndpointKitOf
  readonly authorizations: Authorizations
  readonly settleDemands: SettleDemands
  readonly mint: Mint
  readonly mintAssertion: MintAssertion
  readonly commit: Commit
}

const unauthorized = (caller: keyof Authorizations) => missing(caller, 'authorizations')

/** For a provider whose plugins let no user authorize anything. */
const noAuthorizations: Authorizations = {
  openAuthorization: unauthorized('openAuthorization'),
  authorize: unauthorized('authorize'),
  authorizedEpochs() {
    throw new TypeError('authorizedEpochs(): authorize() has not stored this proposal')
  },
  limitWaiting: unauthorized('limitWaiting'),
  revoke: unauthorized('revoke'),
  renewEpoch: unauthorized('renewEpoch'),
  renewEpochOfClient: unauthorized('renewEpochOfClient'),
}

/** For a provider whose plugins issue no assertions. */
const noAssertions: MintAssertion = missing('assertion', 'assertions')

/** Without a plugin that checks requests, a demand cannot be settled. */
const settleNothing: SettleDemands = async ({ demanded }) =>
  Object.keys(demanded).length === 0 ? { audience: undefined, demands: {} } : undefined

export function openGrants({
  paths,
  registry,
  plugins,
  clients,
  users,
  scopeRules,
  keys,
  jwt,
  tokens,
  credentials,
  waitingRequests,
  ...shared
}: {
  readonly issuer: string
  /** The absolute paths of the enabled endpoints. */
  readonly paths: ReadonlyMap<string, string>
  readonly registry: Registry
  readonly plugins: PluginKits
  readonly clients: ClientDirectory
  readonly users: UserService
  readonly scopeRules: () => ScopeRules
  readonly keys: KeyRing
  readonly jwt: Jwt
  readonly tokens: Tokens
  readonly credentials: Pick<Credentials, 'checkPassword' | 'authenticateUser' | 'provedEpochOf' | 'rememberAddress'>
  readonly waitingRequests: AbuseControl['waitingRequests']
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Grants {
  const { store, recorder } = shared
  const { families, revocationEpochs } = tokens
  const checks = registry.grantChecks as GrantChecks | undefined
  const open = registry.capabilities.get('authorizations')?.open as OpenAuthorizations | undefined
  const openAssertions = registry.capabilities.get('assertions')?.open as OpenAssertions | undefined
  const authorizing = { registry, plugins, clients, scopeRules, waitingRequests }
  const authorizations = open?.({ ...shared, ...tokens, ...authorizing, ...credentials }) ?? noAuthorizations
  return {
    createKit: createGrantKits({
      ...tokens,
      ...credentials,
      plugins,
      clients,
      createMarks: createRequestMarks(tokens),
    }),
    endpointKitOf: createEndpointKits({
      ...credentials,
      issuer: shared.issuer,
      paths,
      jwt,
      plugins,
      clients,
      users,
      scopeRules,
      store,
      revocationEpochs,
      families,
      authorizations,
    }),
    authorizations,
    settleDemands: checks?.createSettlement({ ...shared, families }) ?? settleNothing,
    mint: createMint({
      ...shared,
      ...tokens,
      clients,
      registry,
      bindings: registry.bindings,
      observed: recorder.observed,
    }),
    mintAssertion:
      openAssertions?.({ ...shared, ...tokens, registry, jwt, observed: recorder.observed }) ?? noAssertions,
    commit: createCommit({ ...shared, families, retrySecrets: keys.retrySecrets, useUp: tokens.keyProofs.useUp }),
  }
}
