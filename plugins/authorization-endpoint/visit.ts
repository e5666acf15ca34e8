import type { EndpointKit, EndpointRequest } from '@grantry/core'
import type { Suspension } from './interaction.ts'
import { type CheckedRequest, checkRequest, type ReceivedRequest } from './request.ts'
import type { Target } from './response.ts'
import type { Session, Sessions } from './sessions.ts'
import type { SuspendedRecord, SuspendedRequests } from './suspended.ts'

/** An authorization request on its way to a code, in one HTTP request of the browser. */
export interface Visit extends ReceivedRequest {
  readonly kit: EndpointKit
  readonly http: EndpointRequest
  readonly progress: SuspendedRecord['progress']
  /** The id and the record of a suspended request. */
  readonly suspended: { readonly id: string; readonly record: SuspendedRecord } | undefined
}

export const newVisit = (http: EndpointRequest, kit: EndpointKit) => ({
  kit,
  http,
  startedAt: kit.now(),
  progress: {},
  suspended: undefined,
})

/** Returns the visit of a suspended request; `undefined` if it does not exist in this browser. */
export async function suspendedVisit(
  requests: SuspendedRequests,
  id: string,
  http: EndpointRequest,
  kit: EndpointKit,
): Promise<Visit | undefined> {
  const record = await requests.find(kit, http, id)
  if (record === undefined) return undefined
  const { params, confirmation, pushed, clientEpoch, startedAt, progress } = record
  return { kit, http, params, confirmation, pushed, clientEpoch, startedAt, progress, suspended: { id, record } }
}

export const suspensionOf = ({ id, record }: NonNullable<Visit['suspended']>): Suspension => ({
  id,
  browser: record.browser,
  expiresAt: record.expiresAt,
})

/** Checks the request, and finds who is signed in. A user who was deactivated since the sign-in is not. */
export async function checkVisit(
  visit: Visit,
  target: Target,
  sessions: Sessions,
): Promise<{ readonly request: CheckedRequest; readonly session: Session | undefined }> {
  const { kit, http } = visit
  const [request, found] = await Promise.all([checkRequest(target, visit, kit), sessions.find(kit, http)])
  const isSignedIn = found !== undefined && (await kit.isUserActive(found.subject.sub))
  return { request, session: isSignedIn ? found : undefined }
}
