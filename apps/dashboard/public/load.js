/**
 * Loads the page again if its scripts or styles could not be loaded, and says so if that does not help. Without it the
 * page stays blank. Chromium drops requests in progress whenever an address of its machine changes, which happens with
 * each Dock that starts on the machine of the browser.
 */
;(() => {
  const tries = 5
  const key = 'dock:load-tries'

  const clearTries = () => {
    try {
      sessionStorage.removeItem(key)
    } catch {
      // No storage, so no count.
    }
  }

  const countTry = () => {
    try {
      const count = Number(sessionStorage.getItem(key)) + 1
      sessionStorage.setItem(key, String(count))
      return count
    } catch {
      // Without storage nothing would end the tries.
      return tries + 1
    }
  }

  const giveUp = () => {
    clearTries()
    const text = document.createElement('p')
    text.setAttribute('role', 'alert')
    text.textContent =
      'The dashboard could not be loaded. Check the connection to the server, then try again. '
    const button = document.createElement('button')
    button.textContent = 'Try again'
    button.addEventListener('click', () => location.reload())
    text.append(button)
    document.body.replaceChildren(text)
  }

  let isOver = false
  const loadAgain = () => {
    if (isOver) return
    isOver = true
    const count = countTry()
    if (count > tries) giveUp()
    else setTimeout(() => location.reload(), 200 * count)
  }

  // Errors of elements do not bubble, so only a capturing listener hears them. A failed preload is loaded once more.
  addEventListener(
    'error',
    ({ target }) => {
      const isStyle = target instanceof HTMLLinkElement && target.rel === 'stylesheet'
      if (target instanceof HTMLScriptElement || isStyle) loadAgain()
    },
    true,
  )
  addEventListener('load', () => {
    if (!isOver) clearTries()
  })
})()
