/*
 * The wire format between the host and the guest agent. protocol.md explains it; src/link/protocol.ts holds the same
 * constants, and a test compares the two. All numbers are little-endian.
 */
#pragma once

/* The agent speaks each version from OLDEST to NEWEST. */
#define PROTOCOL_NEWEST 1
#define PROTOCOL_OLDEST 1

/* A frame: type u8, stream u8, flags u16, channel u32, length u32; the payload; END_BYTE. */
#define HEADER_BYTES 12
#define PAYLOAD_MAX 65536
#define END_BYTE 0xa5
#define NONCE_BYTES 16

/* Bytes of one stream of a program that the receiver has not acknowledged. */
#define WINDOW_BYTES 262144
/* A whole request to open a program, which may take several frames. */
#define OPEN_BYTES_MAX 1048576
#define STRINGS_MAX 16384
#define CHANNELS_MAX 1024
#define NAME_BYTES_MAX 15
#define TEXT_BYTES_MAX 400
#define KILLED_NAMES_MAX 16

/* From the host. */
#define TYPE_HELLO 1
#define TYPE_OPEN 2
#define TYPE_DIAL 3
#define TYPE_ATTACH 4
#define TYPE_CLOSE 5
#define TYPE_SIGNAL 6
#define TYPE_RESIZE 7
#define TYPE_CALL 8
/* In both directions. */
#define TYPE_DATA 32
#define TYPE_END 33
#define TYPE_ACK 34
/* From the guest. */
#define TYPE_WELCOME 65
#define TYPE_OPENED 66
#define TYPE_REFUSED 67
#define TYPE_ATTACHED 68
#define TYPE_EXITED 69
#define TYPE_CLOSED 70
#define TYPE_REPLY 71
#define TYPE_LOG 72
#define TYPE_OUT_OF_MEMORY 73

/* Flag of OPEN: another frame of this request follows. */
#define FLAG_MORE 1

/* How to open a program. */
#define OPEN_TERMINAL 1
#define OPEN_WAITS_FOR_OUTPUTS 2
#define OPEN_PLATFORM 4

/* Why an OPEN, DIAL or ATTACH was refused. */
#define REFUSED_REQUEST 1
#define REFUSED_FOLDER 2
#define REFUSED_PROGRAM 3
#define REFUSED_LIMIT 4
#define REFUSED_UNKNOWN 5
#define REFUSED_CONNECTION 6

/* Whom a signal reaches. */
#define TARGET_PROCESS 0
#define TARGET_GROUP 1
#define TARGET_ATTACHED 2
#define TARGET_TREE 3

/* State of a program in ATTACHED and in the list of programs. */
#define STATE_TERMINAL 1
#define STATE_ENDED 2
#define STATE_SOCKET 4

/* Flags of a process in the list of processes. */
#define PROCESS_PLATFORM 1

/* State of the machine in WELCOME. */
#define MACHINE_WAITS 0
#define MACHINE_RUNS 1

/* Operations of CALL. */
#define CALL_PING 1
#define CALL_GO 2
#define CALL_IDENTITY 3
#define CALL_PROCESSES 4
#define CALL_PROGRAMS 5
#define CALL_USAGE 6
#define CALL_RENAME 7
#define CALL_CLOCK 8
#define CALL_SYNC 9
#define CALL_FREEZE 10
#define CALL_THAW 11
#define CALL_GROW 12
#define CALL_POWER_OFF 13
