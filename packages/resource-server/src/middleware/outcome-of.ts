import type { PresentedRequest } from '../presented-request.ts'
import type { Requirement } from '../requirement.ts'
import type { AccessToken, ResourceServer } from '../resource-server.ts'

/** The token of a request, or the response that ends it: a refusal, or the metadata document of the resource. */
export type Outcome =
  | { readonly token: AccessToken; readonly response?: undefined }
  | { readonly token?: undefined; readonly response: Response }

export async function outcomeOf(
  api: ResourceServer,
  request: PresentedRequest,
  requirement: Requirement,
): Promise<Outcome> {
  const document = api.metadata(request)
  return document === undefined ? api.authorize(request, requirement) : { response: document }
}
