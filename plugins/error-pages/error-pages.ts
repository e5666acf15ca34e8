import {
  configurationObject,
  defineErrorPage,
  definePlugin,
  type ErrorPage,
  type OptionsOf,
  type Plugin,
  parseConfiguration,
} from '@grantry/core'
import type { EndpointPages } from '../authorization-endpoint/authorization-endpoint.ts'
import { portSchema } from '../shared/config-schema.ts'
import { unknownPathView } from '../shared/unknown-path.ts'

const optionsSchema = configurationObject({
  /** The pages, such as those of `createPages()`. */
  pages: portSchema<Pick<EndpointPages, 'localeOf' | 'error'>>('the pages of createPages()', {
    localeOf: true,
    error: true,
  }),
})

export type ErrorPagesOptions = OptionsOf<typeof optionsSchema>

/** Returns the part of a plugin that shows one of these pages, in the language of the browser. */
export const errorPage = ({ pages }: ErrorPagesOptions): ErrorPage =>
  defineErrorPage((error, http, kit) =>
    pages.error(unknownPathView(error, http, kit), pages.localeOf(undefined, http.header('accept-language'))),
  )

/**
 * Shows browsers a page where a provider has no endpoint (404), or none for GET (405). Programs get JSON. Not necessary beside
 * `authorizationEndpoint()` and `loginPage()`, whose page comes first.
 *
 * @throws TypeError when an option is malformed.
 * @example
 * const provider = await createProvider({ ...options, plugins: [clientCredentials(), errorPages({ pages: createPages() })] })
 */
export const errorPages = (input: ErrorPagesOptions): Plugin =>
  definePlugin('error-pages', [errorPage(parseConfiguration(optionsSchema, input, 'errorPages()'))])
