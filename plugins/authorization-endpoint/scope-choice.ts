import { givesAccess, scopesToChoose } from '../shared/scope-choice.ts'
import type { CheckedRequest } from './request.ts'

type Offered = Pick<CheckedRequest, 'client' | 'scopes' | 'proposal'>

/** Returns the scopes of a request that the user can leave out one by one. */
export const choosableScopes = ({ client, scopes }: Offered): readonly string[] => scopesToChoose(client, scopes)

/**
 * Returns the scopes of a request without those that the user has left out; `undefined` if no token could be used with the
 * rest.
 *
 * @param isTicked returns whether the user has chosen a scope. Called for choosable scopes only
 */
export function chosenScopes(request: Offered, isTicked: (name: string) => boolean): readonly string[] | undefined {
  const { resources, namesResources } = request.proposal
  const choosable = choosableScopes(request)
  const chosen = request.scopes.filter((name) => !choosable.includes(name) || isTicked(name))
  const reaches = !namesResources || resources.some(({ scopes }) => scopes.some((name) => chosen.includes(name)))
  return reaches && givesAccess(chosen) ? chosen : undefined
}
