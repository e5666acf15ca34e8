import { actionsFor } from './actions.js'
import { byId, choice, element, field, textInput } from './elements.js'

/** @import { Action } from './actions.js' */
/** @import { Session } from './session.js' */
/** @import { Setup } from './setup.js' */

/** @param {Setup} setup */
function apiFields({ apis, demo }) {
  const [first = ''] = apis
  const options = apis.map((name) => /** @type {const} */ ([name, name]))
  const name = apis.length > 0 ? choice('api', options, first) : textInput('api', '')
  const secret = textInput('api-secret', demo?.apis[first] ?? '', demo === undefined ? { type: 'password' } : {})
  name.addEventListener('change', () => {
    secret.value = demo?.apis[name.value] ?? ''
  })
  const part = element('div', { class: 'pair' }, field('Introspect as', name), field('API secret', secret))
  return { part, chosen: () => /** @type {const} */ ([name.value, secret.value]) }
}

/**
 * Shows a button for each action. A disabled button says why it is disabled.
 *
 * @param {Setup} setup
 * @param {(action: Action) => unknown} run
 */
export function createActionList(setup, run) {
  const api = apiFields(setup)
  /** @type {Partial<Session>} */
  let session = {}

  const rows = actionsFor(setup, session, ['', '']).map(({ group, label }, index) => {
    const hint = element('p', { class: 'hint', id: `action-${index}` })
    const press = () => {
      const action = actionsFor(setup, session, api.chosen())[index]
      if (action !== undefined) run(action)
    }
    const button = element('button', { type: 'button', 'aria-describedby': hint.id, onclick: press }, label)
    return { group, button, hint, row: element('li', { class: 'action' }, button, hint) }
  })
  const groups = [...new Set(rows.map(({ group }) => group))].map((group, index) =>
    element(
      'div',
      { class: 'group' },
      element('h3', {}, group),
      element('ul', {}, ...rows.filter((row) => row.group === group).map(({ row }) => row)),
      // The API fields belong to the first group.
      index === 0 && api.part,
    ),
  )
  byId('actions').replaceChildren(...groups)

  /** @param {Session | undefined} next */
  return function showActions(next) {
    session = next ?? {}
    actionsFor(setup, session, ['', '']).forEach(({ what, missing }, index) => {
      const row = rows[index]
      if (row === undefined) return
      row.button.disabled = missing !== false
      row.hint.textContent = missing || what
    })
  }
}
