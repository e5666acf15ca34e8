import { UserManager } from 'oidc-client-ts'

const { issuer, clientId, scope } = SETTING
const home = `${location.origin}/`
const manager = new UserManager({
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${home}callback`,
  post_logout_redirect_uri: home,
  scope,
  loadUserInfo: true,
})

function show(user, refreshed) {
  document.body.replaceChildren()
  const add = (name, id, text, act) => {
    const element = Object.assign(document.createElement(name), { id, textContent: text })
    if (act !== undefined) element.addEventListener('click', act)
    document.body.append(element)
  }
  if (user === null) {
    add('button', 'login', 'Sign in', () => manager.signinRedirect())
    return
  }
  const { sub, name } = user.profile
  add('pre', 'user', JSON.stringify({ sub, name, refreshed }))
  add('button', 'refresh', 'Refresh', async () => show(await manager.signinSilent(), true))
  add('button', 'logout', 'Sign out', () => manager.signoutRedirect())
}

if (location.pathname === '/callback') {
  await manager.signinCallback()
  location.replace('/')
} else show(await manager.getUser(), false)
