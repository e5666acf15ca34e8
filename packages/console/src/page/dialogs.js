import { element } from './elements.js'

/** @import { Child } from './elements.js' */

/**
 * Asks the user in a dialog. Escape gives no answer.
 *
 * @param {object} question
 * @param {string} question.title
 * @param {readonly Child[]} question.content
 * @param {readonly { answer: string, label: string, tone?: 'primary' | 'danger' }[]} question.answers
 * @param {string} [question.dismiss] what the button without an answer says
 * @returns {Promise<string | undefined>}
 */
export function ask({ title, content, answers, dismiss = 'Cancel' }) {
  const heading = element('h2', { id: 'dialog-title' }, title)
  const dialog = element('dialog', { 'aria-labelledby': heading.id }, heading, ...content)
  const close = (/** @type {string} */ answer) => () => dialog.close(answer)
  dialog.append(
    element(
      'div',
      { class: 'buttons' },
      ...answers.map(({ answer, label, tone = 'primary' }) =>
        element('button', { type: 'button', class: tone, onclick: close(answer) }, label),
      ),
      // The last in the order of the keyboard, and the first that has the focus: Enter by mistake does nothing.
      element('button', { type: 'button', autofocus: true, onclick: close('') }, dismiss),
    ),
  )
  document.body.append(dialog)
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === '' ? undefined : dialog.returnValue)
    })
    dialog.showModal()
  })
}

/**
 * Asks before something that cannot be undone, or that ends the access of others.
 *
 * @param {string} title
 * @param {readonly Child[]} consequences
 * @param {string} label of the button that does it
 */
export const confirmed = async (title, consequences, label) =>
  (await ask({
    title,
    content: [element('p', {}, ...consequences)],
    answers: [{ answer: 'yes', label, tone: 'danger' }],
  })) === 'yes'
