import type { AbuseControl } from '../abuse/abuse-control.ts'
import { createWaitingLimit } from '../abuse/waiting-limit.ts'
import { type Capability, capabilityKind } from '../parts/capability.ts'
import type { LimitWaiting, Revoking } from '../parts/kit.ts'
import type { Authorize, AuthorizedEpochs, OpenAuthorization } from '../parts/proposal.ts'
import type { RevocationEpochs } from '../tokens/revocation-epochs.ts'
import { type AuthorizationDeps, createAuthorizations } from './authorize.ts'
import { createReadAuthorization } from './contributions.ts'
import type { PluginKits } from './plugin-kit.ts'

/** How users authorize requests of clients. */
export interface Authorizations extends Revoking {
  readonly openAuthorization: OpenAuthorization
  readonly authorize: Authorize
  readonly authorizedEpochs: AuthorizedEpochs
  readonly limitWaiting: LimitWaiting
}

export type OpenAuthorizations = (
  deps: Omit<AuthorizationDeps, 'readAuthorization'> &
    Pick<Revoking, 'revoke'> & {
      readonly revocationEpochs: RevocationEpochs
      readonly plugins: PluginKits
      readonly waitingRequests: AbuseControl['waitingRequests']
    },
) => Authorizations

const open: OpenAuthorizations = ({ plugins, waitingRequests, revoke, revocationEpochs, ...deps }) => ({
  ...createAuthorizations({ ...deps, readAuthorization: createReadAuthorization(deps.registry, plugins) }),
  limitWaiting: createWaitingLimit(waitingRequests, deps),
  revoke,
  async renewEpoch(sub, epoch) {
    const begun = await revocationEpochs.renew('subject', sub, epoch)
    if (begun !== undefined) deps.recorder.record(deps.recorder.start('revoke'), { type: 'subject_revoked', sub })
    return begun
  },
  async renewEpochOfClient(clientId, epoch) {
    const begun = await revocationEpochs.renew('client', clientId, epoch)
    if (begun !== undefined) deps.recorder.record(deps.recorder.start('revoke'), { type: 'client_revoked', clientId })
    return begun
  },
})

/**
 * The requests that users authorize, and the stored grants that result: `openAuthorization` and `authorize` of kits and
 * of the provider, and `limitWaiting` of kits. `authorizationCode()`, `authorizationEndpoint()`, `loginPage()` and
 * `deviceAuthorization()` name it. A grant of your own that redeems stored grants does so itself.
 *
 * @example
 * const link = defineGrant({ grantType: 'urn:example:link', stored: { kind: 'link' }, requires: [authorizations], … })
 */
export const authorizations: Capability = {
  kind: 'capability',
  '~kind': capabilityKind,
  name: 'authorizations',
  open,
}
