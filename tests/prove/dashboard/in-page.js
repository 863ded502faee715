/**
 * Runs in every page that script/prove dashboard opens: keeps reports of the content security policy, and says what the
 * keyboard can reach. It is a script of its own, because the checks of types here know no browser.
 */
{
  const reports = []
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
    reports.push(`${effectiveDirective} ${blockedURI} ${sample}`.trim()),
  )

  const candidates = 'a[href], button, input, select, textarea, summary, [tabindex]'
  let visited = new WeakSet()
  let opener = null

  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) &&
    element.getClientRects().length > 0 &&
    element.closest('[inert], [aria-hidden=true]') === null
  const isReachable = (element) => element.tabIndex >= 0 && !element.matches(':disabled') && isShown(element)
  const dialog = () => [...document.querySelectorAll('[role=dialog], [role=menu]')].at(-1)

  const nameOf = (element) => {
    const text =
      element.getAttribute('aria-label') ??
      element.labels?.[0]?.innerText ??
      element.innerText ??
      element.getAttribute('placeholder') ??
      ''
    return `${element.tagName.toLowerCase()} “${text.trim().replaceAll(/\s+/g, ' ').slice(0, 40)}”`
  }

  /** Points of the element that are in the window: its middle, and a little inside of its corners. */
  const pointsOf = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const xs = [(left + right) / 2, left + 3, right - 3]
    const ys = [(top + bottom) / 2, top + 3, bottom - 3]
    return xs
      .flatMap((x) => ys.map((y) => [x, y]))
      .filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight)
  }
  const isObscured = (element) =>
    !pointsOf(element).some(([x, y]) => {
      const hit = document.elementFromPoint(x, y)
      return hit !== null && (element.contains(hit) || hit.contains(element))
    })
  const hasMark = (element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
  }

  window.dockProof = {
    reports,
    /** Forgets what was visited. */
    begin: () => {
      visited = new WeakSet()
    },
    /** Describes what has the focus, and notes that it was visited. */
    step: () => {
      const element = document.activeElement
      if (element === null || element === document.body) return { kind: 'nothing' }
      const kind = visited.has(element) ? 'again' : element.closest('.xterm') ? 'terminal' : 'control'
      visited.add(element)
      const name = nameOf(element)
      const isOutside = dialog() !== undefined && !dialog().contains(element)
      // A terminal shows its focus by its cursor.
      const isMarked = kind === 'terminal' || hasMark(element)
      return { kind, name, isOutside, isMarked, isObscured: kind !== 'terminal' && isObscured(element) }
    },
    /** Names the controls that were not visited. With a dialog, only those in it. */
    missed: () =>
      [...(dialog() ?? document).querySelectorAll(candidates)]
        .filter((element) => isReachable(element) && !visited.has(element))
        .map(nameOf),
    rememberOpener: () => {
      opener = document.activeElement
    },
    hasReturned: () => opener !== null && document.activeElement === opener,
    whereFocusIs: () => (document.activeElement ? nameOf(document.activeElement) : 'nowhere'),
    isDialogOpen: () => dialog() !== undefined,
    scrollsSideways: () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    isLoading: () =>
      document.querySelector('.animate-pulse') !== null ||
      [...document.querySelectorAll('p, [role=status]')].some(
        (element) => /^(Loading|Opening|Comparing)\b.*…/.test(element.innerText ?? '') && isShown(element),
      ),
  }
}
