import { safeUrl, texts } from './option-checks.ts'

/** RFC 9728 section 3: the part of the path that is inserted before the path of the resource. */
export const wellKnown = '/.well-known/oauth-protected-resource'

/** A protected resource, as RFC 9728 names it. */
export interface Resource {
  /** Its identifier, exactly as the option has it: clients compare it with the URL that they were given. */
  readonly identifier: string
  /** The path of its metadata document. */
  readonly metadataPath: string
  /** The URL of its metadata document. */
  readonly metadataUrl: string
}

/**
 * Reads the identifier of a resource. One spelling is accepted, because clients compare it without normalizing it.
 *
 * @throws TypeError with one sentence for a mistake in the option
 */
export function resourceOf(value: unknown): Resource {
  const identifier = safeUrl(value, 'resource')
  const { origin, pathname, href } = new URL(identifier)
  if (/[?#]/u.test(identifier)) throw new TypeError('resource must have no query and no fragment')
  if (pathname.includes('//')) throw new TypeError('resource must have no empty part in its path')
  // `https://api.example.com` has the path `/`, which it may omit.
  if (href !== identifier && href !== `${identifier}/`) throw new TypeError(`resource must be written as ${href}`)
  // RFC 9728 section 3.1: a slash that follows the host is removed. Clients remove other ones at the end, too.
  const metadataPath = wellKnown + pathname.replace(/\/$/u, '')
  return { identifier, metadataPath, metadataUrl: origin + metadataPath }
}

/**
 * Returns the audiences of tokens for a resource: its identifier with and without a slash at the end, because clients that
 * parse URLs add it to hosts, and issuers put into `aud` what a client has requested.
 */
export function audiencesOf(audience: unknown, resource: Resource | undefined): readonly string[] {
  if (audience !== undefined || resource === undefined) return texts(audience, 'audience')
  const bare = resource.identifier.replace(/\/$/u, '')
  return [bare, `${bare}/`]
}
