import { handlers } from '@grantry/next'
import { grantryOptions } from './grantry.ts'
import { createSite } from './site.ts'

/** The provider of this application, opened by the first request: one for all routes and pages of the process. */
export const grantry = handlers((provider) => grantryOptions(process.env, {}, provider))

/** Responds with a page of `site.ts`. */
export const site = async (request: Request): Promise<Response> =>
  createSite(await grantry.provider(), process.env)(request)
