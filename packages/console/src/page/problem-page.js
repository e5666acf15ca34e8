import { element } from './elements.js'
import { visible } from './shown-text.js'

/** @import { ApiResponse } from './api.js' */
/** @import { PageContent } from './shell.js' */

/**
 * Returns the page instead of one that could not be loaded.
 *
 * @param {string} title
 * @param {ApiResponse} response
 * @param {() => void} again
 * @param {Node} [back] a link to what exists
 * @returns {PageContent}
 */
export const problemPage = (title, { status, problem }, again, back) => ({
  title,
  content: [
    element('p', { class: 'problem', role: 'alert' }, visible(problem, 500)),
    status !== 404 && element('button', { type: 'button', onclick: again }, 'Try again'),
    back && element('p', {}, back),
  ],
})
