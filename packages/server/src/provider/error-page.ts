import { defineErrorPage, definePlugin } from '@grantry/core'

/**
 * Shows browsers a page for unknown paths, unless an earlier plugin defines one. A server without a sign-in loads the
 * pages when the first browser needs one.
 */
export const errorPagePlugin = definePlugin('server-error-page', [
  defineErrorPage(async (...call) => {
    const { presentError } = await import('./unknown-path-page.ts')
    return presentError(...call)
  }),
])
