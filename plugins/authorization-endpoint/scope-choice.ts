import type { CheckedRequest } from './request.ts'

type Offered = Pick<CheckedRequest, 'client' | 'scopes' | 'proposal'>

/**
 * Returns the scopes that the user can leave out one by one, if the client has `scopeChoice`. Not `openid`: without it, the
 * response is one of another protocol. A single scope is no choice: the user can deny the request.
 */
export function choosableScopes({ client, scopes }: Offered): readonly string[] {
  const { scopeChoice = client.selfDescribed !== undefined } = client
  return scopeChoice && scopes.length > 1 ? scopes.filter((name) => name !== 'openid') : []
}

/**
 * Returns the scopes of a request without those that the user has left out; `undefined` if no token could be used with the
 * rest.
 *
 * @param isTicked whether the user has chosen a scope. Called for choosable scopes only
 */
export function chosenScopes(request: Offered, isTicked: (name: string) => boolean): readonly string[] | undefined {
  const { resources, namesResources } = request.proposal
  const choosable = choosableScopes(request)
  const chosen = request.scopes.filter((name) => !choosable.includes(name) || isTicked(name))
  const reaches = !namesResources || resources.some(({ scopes }) => scopes.some((name) => chosen.includes(name)))
  // Offline access extends the access that other scopes give.
  return reaches && chosen.some((name) => name !== 'offline_access') ? chosen : undefined
}
