/* The machine's network: one card, one IPv4 address, one default route. */
#include <arpa/inet.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"

#define CARD "eth0"
#define ETHERNET 1

static void name_card(struct ifreq *request, const char *name) {
  memset(request, 0, sizeof *request);
  strcpy(request->ifr_name, name);
}

static int set_address(int fd, unsigned long operation, const char *text) {
  struct ifreq request;
  name_card(&request, CARD);
  struct sockaddr_in *address = (struct sockaddr_in *)&request.ifr_addr;
  address->sin_family = AF_INET;
  if (inet_pton(AF_INET, text, &address->sin_addr) != 1) return -1;
  return ioctl(fd, operation, &request);
}

static int set_up(int fd, const char *name) {
  struct ifreq request;
  name_card(&request, name);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ioctl(fd, SIOCSIFFLAGS, &request);
}

/* A restored machine has the card address of its template until it is set. */
static int set_card_address(int fd, const char *text) {
  struct ifreq request;
  unsigned part[6];
  if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", part, part + 1, part + 2, part + 3, part + 4, part + 5) != 6) return -1;
  name_card(&request, CARD);
  request.ifr_hwaddr.sa_family = ETHERNET;
  for (int i = 0; i < 6; i++) request.ifr_hwaddr.sa_data[i] = part[i];
  return ioctl(fd, SIOCSIFHWADDR, &request);
}

static int set_mtu(int fd, const char *text) {
  struct ifreq request;
  name_card(&request, CARD);
  request.ifr_mtu = atoi(text);
  return ioctl(fd, SIOCSIFMTU, &request);
}

static int set_route(int fd, const char *gateway) {
  struct rtentry route;
  memset(&route, 0, sizeof route);
  struct sockaddr_in *to = (struct sockaddr_in *)&route.rt_dst, *mask = (struct sockaddr_in *)&route.rt_genmask,
                     *by = (struct sockaddr_in *)&route.rt_gateway;
  to->sin_family = mask->sin_family = by->sin_family = AF_INET;
  if (inet_pton(AF_INET, gateway, &by->sin_addr) != 1) return -1;
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  route.rt_dev = CARD;
  return ioctl(fd, SIOCADDRT, &route);
}

/* Returns what failed, or null. Each text may be empty; without an address only loopback is set up. */
const char *network_up(const char *address, const char *mask, const char *gateway, const char *mac, const char *mtu) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "socket";
  const char *failed = 0;
  if (set_up(fd, "lo")) failed = "loopback";
  if (*address) {
    if (*mac && set_card_address(fd, mac)) failed = "card address";
    else if (*mtu && set_mtu(fd, mtu)) failed = "mtu";
    else if (set_address(fd, SIOCSIFADDR, address)) failed = "address";
    else if (*mask && set_address(fd, SIOCSIFNETMASK, mask)) failed = "mask";
    else if (set_up(fd, CARD)) failed = "card";
    else if (*gateway && set_route(fd, gateway)) failed = "route";
  }
  close(fd);
  return failed;
}
