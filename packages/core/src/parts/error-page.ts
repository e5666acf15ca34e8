import type { Endpoint } from './endpoint.ts'
import { type Defined, type Owned, partKind, required } from './part-kind.ts'
import { createToResponse } from './reply.ts'

/**
 * The page for a browser that opens a path without an endpoint (404), a path that is not for GET (405), or a tenant that
 * cannot be opened (503). Programs get JSON.
 */
export interface ErrorPage extends Defined<'error-page'> {
  /**
   * Returns the page. The core sets `error` of the reply, which determines the status. If this function throws, the response
   * is JSON.
   */
  readonly presentError: NonNullable<Endpoint['presentError']>
}

/** The page that the core shows. */
export interface InstalledErrorPage extends Pick<ErrorPage, 'presentError'> {
  readonly plugin: string
  readonly createToResponse: typeof createToResponse
}

const errorPageKind = /* @__PURE__ */ partKind<ErrorPage, InstalledErrorPage | undefined>('error-page', {
  title: 'error page',
  schemas: () => ({ presentError: required() }),
  collect: ([first]: readonly Owned<ErrorPage>[]) =>
    first && { plugin: first.plugin, presentError: first.part.presentError, createToResponse },
})

/**
 * Defines the page for paths without an endpoint. If several plugins define one, the core shows that of the first.
 * `authorizationEndpoint()` defines one.
 */
export const defineErrorPage = (presentError: ErrorPage['presentError']): ErrorPage => ({
  kind: 'error-page',
  presentError,
  '~kind': errorPageKind,
})
